import { describe, expect, it } from "vitest";
import type { Capability } from "../../../src/acs/capability.ts";
import { covers } from "../../../src/acs/capability.ts";
import { capabilitiesOf } from "../../../src/acs/rule-capabilities.ts";

describe("capabilitiesOf", () => {
  it.each<[string, Capability[]]>([
    ["*", [{ tool: "*" }]],
    ["Read", [{ tool: "Read" }]],
    ["Read(*)", [{ tool: "Read" }]],
    ["Task", [{ tool: "Agent" }]],
    ["Bash(git log:*)", [{ tool: "Bash", operation: "git log*" }]],
    ["Bash(git log *)", [{ tool: "Bash", operation: "git log*" }]],
    ["Bash(git log)", [{ tool: "Bash", operation: "git log" }]],
    ["Bash(git * x)", [{ tool: "Bash", operation: "git * x" }]],
    [
      "Bash(git diff:*, ls)",
      [
        { tool: "Bash", operation: "git diff*" },
        { tool: "Bash", operation: "ls" },
      ],
    ],
    ["Read(src/**)", [{ tool: "Read", resource: "file:./src/*" }]],
    ["Read(./src/*)", [{ tool: "Read", resource: "file:./src/*" }]],
    ["Read(**)", [{ tool: "Read", resource: "file:./*" }]],
    ["Read(/)", [{ tool: "Read", resource: "file:./*" }]],
    ["Edit(~/notes/**)", [{ tool: "Edit", resource: "file:~/notes/*" }]],
    ["Edit(//tmp/**)", [{ tool: "Edit", resource: "file:///tmp/*" }]],
    ["Edit(//**)", [{ tool: "Edit", resource: "file:*" }]],
    ["Read(src/*.ts)", [{ tool: "Read", resource: "file:./src/*.ts" }]],
    ["Read(*.ts)", [{ tool: "Read", resource: "file:./**/*.ts" }]],
    ["Read(src/a?.ts*)", [{ tool: "Read", resource: "file:./src/a%3F.ts*" }]],
    ["Read(src/a b#é/**)", [{ tool: "Read", resource: "file:./src/a%20b%23%C3%A9/*" }]],
    ["Read(src/\ud800/**)", [{ tool: "Read", resource: "file:./src/%EF%BF%BD/*" }]],
    [
      "Read(./src/./a.ts)",
      [
        { tool: "Read", resource: "file:./src/a.ts" },
        { tool: "Read", resource: "file:./src/a.ts/*" },
      ],
    ],
    ["WebFetch(domain:Example.com)", [{ tool: "WebFetch", resource: "https://example.com/*" }]],
    ["WebFetch(domain:*.example.com)", [{ tool: "WebFetch", resource: "https://*.example.com/*" }]],
    ["WebFetch(domain:*)", [{ tool: "WebFetch", resource: "https://*" }]],
    [
      "Agent(a, gov:b)",
      [
        { tool: "Agent", operation: "a" },
        { tool: "Agent", operation: "gov:b" },
      ],
    ],
    ["Agent()", []],
    ["Skill(x)", [{ tool: "Skill", operation: "x" }]],
    ["Skill(x:*)", [{ tool: "Skill", operation: "x*" }]],
    ["mcp__server", [{ tool: "mcp__server__*" }]],
    ["mcp__server__*", [{ tool: "mcp__server__*" }]],
    ["mcp__server__read", [{ tool: "mcp__server__read" }]],
    ["mcp__serv*", [{ tool: "mcp__serv*" }]],
    ["mcp__*__read", [{ tool: "mcp__*__read" }]],
    ["Bash(git log", [{ tool: '"Bash(git log"' }]],
    ["Read*", [{ tool: '"Read*"' }]],
  ])("of %s", (rule, expected) => {
    expect(capabilitiesOf([rule])).toEqual(expected);
  });

  it("names each capability once", () => {
    expect(capabilitiesOf(["Read", "Task", "Read", "Agent", "Bash(git:*)", "Bash(git*)", "Read(*)"])).toEqual(
      [{ tool: "Read" }, { tool: "Agent" }, { tool: "Bash", operation: "git*" }],
    );
  });

  it.each(["Bash(git log", "Read*", "mcp__", "two words", "Grep()", "*x"])(
    "gives for the unreadable %s what only itself covers",
    (rule) => {
      const [capability = {}] = capabilitiesOf([rule]);
      expect(covers(capability, capability)).toBe(true);
      for (const tool of ["*", "Read", "Read*", "Bash", "mcp__*", rule, "Grep", "G*"]) {
        expect([covers({ tool }, capability), covers(capability, { tool })]).toEqual([false, false]);
      }
      expect(covers({}, capability)).toBe(false);
    },
  );
});
