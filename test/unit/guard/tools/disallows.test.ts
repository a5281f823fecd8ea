import { describe, expect, it } from "vitest";
import { disallows } from "../../../../src/guard/tools/disallows.ts";
import { parseToolRule } from "../../../../src/guard/tools/tool-rule.ts";
import type { ToolUse } from "../../../../src/guard/tools/tool-use.ts";
import { bash, call } from "./call.ts";

function denied(rules: string[], use: ToolUse): boolean {
  return disallows(rules.map(parseToolRule), use).denied;
}

describe("disallows by name", () => {
  it.each([
    [["WebFetch"], "WebFetch", true],
    [["webfetch"], "WebFetch", true],
    [["WebFetch"], "WebSearch", false],
    [["Read"], "Grep", false],
    [["Agent"], "Task", true],
    [["Task"], "Agent", true],
    [["Task"], "TaskCreate", false],
    [["*"], "Read", true],
    [["*"], "StructuredOutput", false],
    [["mcp__docs"], "mcp__docs__get", true],
    [["mcp__docs__*"], "mcp__docs__get", true],
    [["mcp__docs"], "mcp__docs2__get", false],
    [["mcp__*__search"], "mcp__docs__search", true],
    [["mcp__*__search"], "mcp__docs__a__search", true],
    [["mcp__*__search"], "mcp__docs__get", false],
    [["Web*"], "WebFetch", true],
    [["Web*"], "Read", false],
    [["WebSearch(cats)"], "WebSearch", true],
    [["Bash(rm"], "Bash", true],
    [["Bash(rm"], "Read", false],
    [["(rm)"], "Read", true],
    [[], "Read", false],
  ])("%j, %s: %s", (rules, tool, expected) => {
    expect(denied(rules, call(tool))).toBe(expected);
  });

  it("names the rule", () => {
    expect(disallows([parseToolRule("Bash(curl *)")], bash("curl x"))).toEqual({
      denied: true,
      why: 'disallowedTools has Bash(curl *): it runs "curl x"',
    });
  });
});

describe("disallows Bash(curl *)", () => {
  it.each([
    "curl",
    "curl x",
    "curl  x",
    "'curl' x",
    "cu\\rl x",
    "/usr/bin/curl x",
    "true && curl x",
    "true; curl x",
    "true | curl x",
    "true & curl x",
    "true\ncurl x",
    "(curl x)",
    "{ curl x; }",
    "echo $(curl x)",
    'echo "$(curl x)"',
    "echo `curl x`",
    "cat <(curl x)",
    "cat <<E\n$(curl x)\nE",
    "bash <<E\ncurl x\nE",
    "bash <<< 'curl x'",
    "X=1 curl x",
    "X=$(curl x) true",
    "env X=1 curl x",
    "timeout 5 curl x",
    "nohup curl x",
    "command curl x",
    "sudo -u me curl x",
    "xargs -n 1 curl",
    "sh -c 'curl x'",
    "bash -lc 'true; curl x'",
    "timeout 5 sh -c 'curl x'",
    "eval curl x",
    "find . -exec curl {} \\;",
    "if true; then curl x; fi",
    "for i in 1; do curl x; done",
    "while curl x; do true; done",
    "! curl x",
    "f() { curl x; }; f",
    "curl x > out",
    "curl x &",
    "$X x",
    "cu?l x",
    "curl 'x",
    "$'curl' x",
  ])("%j", (command) => {
    expect(denied(["Bash(curl *)"], bash(command))).toBe(true);
  });

  it.each([
    "echo curl x",
    "git commit -m 'curl x; curl y'",
    "curls x",
    "cat curl",
    "cat <<'E'\ncurl x\nE",
    "echo hi # curl x",
    "command -v curl",
  ])("but not %j", (command) => {
    expect(denied(["Bash(curl *)"], bash(command))).toBe(false);
  });

  it("and both readings of a comma", () => {
    expect(denied(["Bash(rm, curl)"], bash("curl"))).toBe(true);
    expect(denied(["Bash(echo a, b)"], bash("echo a, b"))).toBe(true);
  });
});

describe("disallows by pattern", () => {
  it.each([
    ["Read(secret/**)", call("Read", { file_path: "secret/a" }), true],
    ["Read(secret/**)", call("Read", { file_path: "SECRET/a" }), true],
    ["Read(secret/**)", call("Read", { file_path: "x/../secret/a" }), true],
    ["Read(secret/**)", call("Read", { file_path: "open/a" }), false],
    ["Read(secret/*)", call("Read", { file_path: "secret/a/b" }), true],
    ["Read(*.env)", call("Read", { file_path: "a/x.env" }), true],
    ["Read(secret/**)", call("Read", { file_path: "secret/a" }, { cwd: "/home/dev/other" }), true],
    ["Read(secret/**)", call("LS", { path: "secret" }), true],
    ["Read(secret/**)", call("Glob", { pattern: "*", path: "secret/x" }), true],
    ["Read(secret/**)", call("Glob", { pattern: "secret/*" }), true],
    ["Read(secret/**)", call("Glob", { pattern: "**/*.ts" }), false],
    ["Read(secret/**)", call("Grep", { pattern: "x", path: "secret" }), true],
    ["Read(secret/**)", call("Grep", { pattern: "x" }), true],
    ["Read(secret/**)", call("Grep", { pattern: "x", path: "open" }), false],
    ["Read(secret/**)", call("Edit", { file_path: "secret/a" }), false],
    ["Edit(secret/**)", call("Write", { file_path: "secret/a" }), true],
    ["Edit(secret/**)", call("NotebookEdit", { notebook_path: "secret/a" }), true],
    ["Edit(secret/**)", call("Read", { file_path: "secret/a" }), false],
    ["Read(secret/**)", call("Read", {}), true],
    ["Read(secret/[a])", call("Read", { file_path: "open" }), true],
    ["WebFetch(domain:evil.io)", call("WebFetch", { url: "https://evil.io/x" }), true],
    ["WebFetch(domain:evil.io)", call("WebFetch", { url: "https://www.evil.io/x" }), true],
    ["WebFetch(domain:evil.io)", call("WebFetch", { url: "https://good.io" }), false],
    ["WebFetch(domain:evil.io)", call("WebFetch", { url: "https://u@evil.io" }), true],
    ["Agent(Explore)", call("Agent", { subagent_type: "explore" }), true],
    ["Task(Explore)", call("Agent", { subagent_type: "Explore" }), true],
    ["Agent(Explore)", call("Agent", { subagent_type: "Plan" }), false],
    ["Agent(general-purpose)", call("Agent"), true],
    ["Agent(qa-engineer)", call("Agent", { subagent_type: "spawn-guard:qa-engineer" }), true],
    ["Skill(develop)", call("Skill", { skill: "spawn-guard:develop" }), true],
    ["Skill(develop:*)", call("Skill", { skill: "developer" }), true],
    ["Skill(develop)", call("Skill", { skill: "migrate" }), false],
  ])("%s, %j: %s", (rule, use, expected) => {
    expect(denied([rule], use)).toBe(expected);
  });

  it("adds up along the chain", () => {
    const chain = ["WebFetch", "Bash(curl *)", "Agent"];
    expect(denied(chain, bash("curl x"))).toBe(true);
    expect(denied(chain, call("WebFetch", { url: "https://a.io" }))).toBe(true);
    expect(denied(chain, call("Task", { subagent_type: "Explore" }))).toBe(true);
    expect(denied(chain, bash("git log"))).toBe(false);
  });
});
