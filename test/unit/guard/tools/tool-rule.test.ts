import { describe, expect, it } from "vitest";
import { parseToolRule } from "../../../../src/guard/tools/tool-rule.ts";

describe("parseToolRule", () => {
  it.each([
    ["*", { kind: "any" }],
    ["Read", { kind: "tool", tool: "Read" }],
    [" Read ", { kind: "tool", tool: "Read" }],
    ["Bash(*)", { kind: "tool", tool: "Bash" }],
    ["Read(*)", { kind: "tool", tool: "Read" }],
    ["Read(src, *)", { kind: "tool", tool: "Read" }],
    ["Task", { kind: "tool", tool: "Agent" }],
    ["Task(*)", { kind: "tool", tool: "Agent" }],
    ["TaskCreate", { kind: "tool", tool: "TaskCreate" }],
    ["mcp__docs", { kind: "mcp", server: "docs", tool: "*" }],
    ["mcp__docs__*", { kind: "mcp", server: "docs", tool: "*" }],
    ["mcp__*__search", { kind: "mcp", server: "*", tool: "search" }],
    ["mcp__plugin_gov_store__get_item", { kind: "mcp", server: "plugin_gov_store", tool: "get_item" }],
    ["mcp__docs__a__b", { kind: "mcp", server: "docs", tool: "a__b" }],
    ["Bash(git log:*)", { kind: "bash", patterns: [{ kind: "prefix", text: "git log" }] }],
    ["Bash(git log *)", { kind: "bash", patterns: [{ kind: "prefix", text: "git log" }] }],
    ["Bash(git * main)", { kind: "bash", patterns: [{ kind: "wildcard", text: "git * main" }] }],
    ["Bash(git*)", { kind: "bash", patterns: [{ kind: "wildcard", text: "git*" }] }],
    ["Bash(npm test)", { kind: "bash", patterns: [{ kind: "exact", text: "npm test" }] }],
    ["Bash(echo a, b)", { kind: "bash", patterns: [{ kind: "exact", text: "echo a, b" }] }],
    [
      "Bash(git diff:*, git status)",
      {
        kind: "bash",
        patterns: [
          { kind: "prefix", text: "git diff" },
          { kind: "exact", text: "git status" },
        ],
      },
    ],
    ['Bash(echo "a, b *)', { kind: "bash", patterns: [{ kind: "prefix", text: 'echo "a, b' }] }],
    ["WebFetch(domain:Example.com)", { kind: "domain", domains: ["example.com"] }],
    ["WebFetch(domain:*.a.io, domain:b.io)", { kind: "domain", domains: ["*.a.io", "b.io"] }],
    ["Agent(worker, gov:researcher)", { kind: "agent", types: ["worker", "gov:researcher"] }],
    ["Task(worker)", { kind: "agent", types: ["worker"] }],
    ["Agent()", { kind: "agent", types: [] }],
    ["Agent(worker, *)", { kind: "tool", tool: "Agent" }],
    ["Skill(develop)", { kind: "skill", skills: [{ name: "develop", within: false }] }],
    ["Skill(develop:*)", { kind: "skill", skills: [{ name: "develop", within: true }] }],
    ["Read(src/**)", { kind: "path", tool: "Read" }],
    ['Read("src/**", docs/*.md)', { kind: "path", tool: "Read" }],
  ])("reads %s", (text, expected) => {
    expect(parseToolRule(text)).toMatchObject({ text, ...expected });
  });

  it.each([
    ["Bash(git log:*", "Bash", "not closed"],
    ["Bash(git (log)", "Bash", "not closed"],
    ["Bash(git log) x", "Bash", "not closed"],
    ["Bash()", "Bash", "empty brackets"],
    ["Bash(:*)", "Bash", "without a command"],
    ["Bash(git * x:*)", "Bash", "write one of the two"],
    ["Bash(echo \\*)", "Bash", "escaped star"],
    ["Read()", "Read", "empty brackets"],
    ["Read(../x)", "Read", "`..`"],
    ["Read(src/{a,b})", "Read", "not evaluated"],
    ["Read(app/[id])", "Read", "not evaluated"],
    ["Read(!src)", "Read", "not evaluated"],
    ["WebFetch(example.com)", "WebFetch", "domain:"],
    ["WebFetch(domain:exa*.com)", "WebFetch", "domain:"],
    ["WebSearch(cats)", "WebSearch", "no patterns are evaluated for WebSearch"],
    ["TaskCreate(x)", "TaskCreate", "no patterns are evaluated for TaskCreate"],
    ["mcp__docs__search(x)", "mcp__docs__search", "no patterns are evaluated"],
    ["mcp__", "mcp__", "no tool name"],
    ["mcp__docs__", "mcp__docs__", "no tool name"],
    ["Agent(gov:*)", "Agent", "a star inside an agent's name"],
    ["Skill(a*b)", "Skill", "Skill(name)"],
    ["Web*", "Web*", "a star in a name"],
    ["(x)", "", "no plain tool name"],
    ["", "", "no tool name"],
  ])("cannot evaluate %s", (text, tool, problem) => {
    const rule = parseToolRule(text);
    expect(rule).toMatchObject({ kind: "unreadable", tool, problem: expect.stringContaining(problem) });
    expect(rule).toMatchObject({ problem: expect.stringContaining(JSON.stringify(text)) });
  });
});
