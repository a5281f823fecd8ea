import { describe, expect, it } from "vitest";
import { type Capability, covers, isSubset, missingFrom, sameSet } from "../../../src/acs/capability.ts";

describe("covers", () => {
  it.each<[string, Capability, Capability]>([
    ["an absent member covers a named one", { tool: "Bash" }, { tool: "Bash", operation: "git log" }],
    ["no member at all covers everything", {}, { tool: "Bash", operation: "git log" }],
    ["a star covers a member that is absent", { tool: "*" }, {}],
    ["a star covers a prefix", { operation: "*" }, { operation: "git*" }],
    ["a prefix covers a longer text", { operation: "git *" }, { operation: "git log" }],
    ["a prefix covers its own text", { operation: "git*" }, { operation: "git" }],
    ["a prefix covers a longer prefix", { operation: "git*" }, { operation: "git log*" }],
    ["a prefix covers what has a star behind its end", { operation: "git*" }, { operation: "git log * x" }],
    ["an inner star covers an equal text", { operation: "git * x" }, { operation: "git * x" }],
    ["two stars at the end are one", { operation: "git**" }, { operation: "git*" }],
    ["Task is Agent", { tool: "Task" }, { tool: "Agent", operation: "a" }],
    [
      "agents are compared as the host does",
      { tool: "Agent", operation: "QA engineer" },
      { tool: "Agent", operation: "spawn-guard:qa-engineer" },
    ],
    ["a folder covers what lies below", { resource: "file:./src/*" }, { resource: "file:./src/a/b.ts" }],
    ["a resolved path is the same path", { resource: "file:./src/a" }, { resource: "file:src/./b/../a" }],
    ["the disk covers every place on it", { resource: "file:*" }, { resource: "file:~/x" }],
    ["`..` stays at the root", { resource: "file:///etc/*" }, { resource: "file:/../etc/x" }],
    ["an escaped letter is the letter", { resource: "file:./src/*" }, { resource: "file:./s%72c/a" }],
    ["a host's case does not count", { resource: "https://a.io/*" }, { resource: "HTTPS://A.io/x" }],
    ["a host alone is its root", { resource: "https://a.io/*" }, { resource: "https://a.io" }],
    ["all hosts cover one", { resource: "https://*" }, { resource: "https://*.a.io/*" }],
    ["other schemes are read too", { resource: "db:users/*" }, { resource: "db:users/x/../y" }],
    ["a place that cannot be told is within anything", { resource: "*" }, { resource: "file:./../x" }],
    ["and within itself", { resource: "file:./../x" }, { resource: "file:./../x" }],
    [
      "a text that is no tool's name is within itself",
      { tool: '"Read*"' },
      { tool: '"Read*"', operation: "x" },
    ],
  ])("%s", (_, outer, inner) => {
    expect(covers(outer, inner)).toBe(true);
  });

  it.each<[string, Capability, Capability]>([
    ["a named member covers no absent one", { tool: "Bash", operation: "git*" }, { tool: "Bash" }],
    ["nor does any prefix but the star alone", { tool: "B*" }, {}],
    ["another tool", { tool: "Read" }, { tool: "Grep" }],
    ["a tool's name is no prefix", { tool: "Task" }, { tool: "TaskCreate" }],
    ["letters count in a tool's name", { tool: "Bash" }, { tool: "bash" }],
    ["a text covers no longer one", { operation: "git" }, { operation: "git log" }],
    ["a text covers no prefix", { operation: "git" }, { operation: "git*" }],
    ["a prefix covers no shorter prefix", { operation: "git log*" }, { operation: "git*" }],
    ["a prefix that ends behind the other's star", { operation: "git log*" }, { operation: "git * x" }],
    ["an inner star covers nothing else", { operation: "git * x" }, { operation: "git a x" }],
    ["nor with one at the end as well", { operation: "git * x*" }, { operation: "git a xy" }],
    ["a path that climbs out", { resource: "file:./src/*" }, { resource: "file:./src/../secret" }],
    [
      "one that climbs out in escapes",
      { resource: "file:./src/*" },
      { resource: "file:./src/%2e%2E/secret" },
    ],
    ["one that climbs behind a star", { resource: "file:./src/*" }, { resource: "file:./src/*/../../x" }],
    ["an escaped slash", { resource: "file:./src/*" }, { resource: "file:./src/..%2fsecret" }],
    ["a backslash", { resource: "file:./src/*" }, { resource: "file:./src/..\\secret" }],
    ["a path above the project", { resource: "file:./*" }, { resource: "file:./../x" }],
    ["a path above the home", { resource: "file:~/*" }, { resource: "file:~/../x" }],
    ["a folder beside", { resource: "file:./src/*" }, { resource: "file:./src2/a" }],
    ["the folder itself", { resource: "file:./src/*" }, { resource: "file:./src" }],
    ["a name that only begins with dots", { resource: "file:./src/..*" }, { resource: "file:./src/../a" }],
    ["another start", { resource: "file:./*" }, { resource: "file:///*" }],
    ["a host beside", { resource: "https://a.io/*" }, { resource: "https://a.io.example/x" }],
    ["another scheme", { resource: "https://a.io/*" }, { resource: "http://a.io/x" }],
    ["a web path that climbs", { resource: "https://a.io/x/*" }, { resource: "https://a.io/x/../y" }],
    [
      "one agent of a plugin that shares a name",
      { tool: "Agent", operation: "a" },
      { tool: "Agent", operation: "gov:a" },
    ],
    [
      "all of this plugin's agents are not all agents",
      { tool: "Agent", operation: "spawn-guard:*" },
      { tool: "Agent", operation: "gov:a" },
    ],
    ["a text that is no tool's name is not within the star", { tool: "*" }, { tool: '"Read*"' }],
    ["nor within what names no tool", {}, { tool: "Bash(git" }],
    ["nor is a tool within it", { tool: "Bash(*" }, { tool: "Bash(git)" }],
  ])("not: %s", (_, outer, inner) => {
    expect(covers(outer, inner)).toBe(false);
  });
});

describe("sets of capabilities", () => {
  const git = { tool: "Bash", operation: "git*" };
  const log = { tool: "Bash", operation: "git log" };
  const read = { tool: "Read" };

  it("say which are missing, as they were given", () => {
    expect(missingFrom([git], [log, read, { tool: "Task" }])).toEqual([read, { tool: "Task" }]);
    expect(missingFrom([], [read])).toEqual([read]);
    expect(missingFrom([read], [])).toEqual([]);
  });

  it.each<[string, Capability[], Capability[], { subset: boolean; same: boolean }]>([
    ["the same set", [git, read], [read, git], { subset: true, same: true }],
    ["the same in other words", [{ tool: "Task" }], [{ tool: "Agent" }], { subset: true, same: true }],
    ["with a member that adds nothing", [git], [git, log], { subset: true, same: true }],
    ["one capability less", [git, read], [git], { subset: true, same: false }],
    ["a narrower one", [git], [log], { subset: true, same: false }],
    ["one more", [git], [git, read], { subset: false, same: false }],
    ["nothing of something", [git], [], { subset: true, same: false }],
    ["nothing of nothing", [], [], { subset: true, same: true }],
  ])("%s", (_, outer, inner, expected) => {
    expect({
      subset: isSubset(outer, inner),
      same: sameSet(outer, inner),
    }).toEqual(expected);
  });
});
