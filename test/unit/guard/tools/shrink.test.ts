import { describe, expect, it } from "vitest";
import { coversAll, intersect } from "../../../../src/guard/tools/shrink.ts";
import { parseToolRule } from "../../../../src/guard/tools/tool-rule.ts";

const rules = (texts: string[]) => texts.map(parseToolRule);

describe("coversAll", () => {
  it.each([
    ["*", "Bash"],
    ["*", "*"],
    ["*", "mcp__a"],
    ["Bash", "Bash(git:*)"],
    ["Bash(*)", "Bash"],
    ["Bash(git:*)", "Bash(git log:*)"],
    ["Bash(git:*)", "Bash(git log)"],
    ["Bash(git:*)", "Bash(git log * x)"],
    ["Bash(git log *)", "Bash(git log:*)"],
    ["Bash(git*)", "Bash(git:*)"],
    ["Bash(git:*, ls:*)", "Bash(ls -l, git log:*)"],
    ["Read(src/**)", "Read(src/a/**)"],
    ["Read(src/**)", "Read(src/*.ts)"],
    ["Read(src)", "Read(src)"],
    ["Read(./src)", "Read(src/**)"],
    ["Read(**)", "Read(*.md)"],
    ["Read(//**)", "Read(src/**)"],
    ["Read", "Read(src/**)"],
    ["mcp__a", "mcp__a__b"],
    ["mcp__*__b", "mcp__a__b"],
    ["mcp__a__*", "mcp__a"],
    ["Task", "Agent(a)"],
    ["Agent(a, b)", "Task(B)"],
    ["Agent(qa-engineer)", "Agent(spawn-guard:qa-engineer)"],
    ["Agent(a)", "Agent()"],
    ["WebFetch(domain:*.a.io)", "WebFetch(domain:b.a.io)"],
    ["WebFetch(domain:*.a.io)", "WebFetch(domain:*.b.a.io)"],
    ["Skill(a:*)", "Skill(a:b)"],
  ])("%s covers %s", (outer, inner) => {
    expect(coversAll(rules([outer]), rules([inner]))).toEqual({ ok: true });
  });

  it.each([
    ["Bash(git:*)", "Bash"],
    ["Bash(git log:*)", "Bash(git:*)"],
    ["Bash(git log)", "Bash(git log:*)"],
    ["Bash(git log:*)", "Bash(git log*)"],
    ["Bash(git * x)", "Bash(git:*)"],
    ["Read", "*"],
    ["Read", "Grep"],
    ["Edit", "Write"],
    ["Read(src/**)", "Read"],
    ["Read(src/**)", "Edit(src/**)"],
    ["Read(src/*)", "Read(src/**)"],
    ["Read(src/**)", "Read(src)"],
    ["Read(src/**)", "Read(*.ts)"],
    ["Read(~/**)", "Read(src/**)"],
    ["mcp__a__b", "mcp__a"],
    ["mcp__a", "mcp__*__b"],
    ["Agent(a)", "Agent"],
    ["Agent(a)", "Agent(gov:a)"],
    ["WebFetch(domain:a.io)", "WebFetch(domain:*.a.io)"],
    ["WebFetch(domain:*.a.io)", "WebFetch(domain:a.io)"],
    ["Skill(a)", "Skill(a:*)"],
    ["*", "Bash(git log"],
    ["Bash(git log", "Bash(git log"],
  ])("%s does not cover %s", (outer, inner) => {
    expect(coversAll(rules([outer]), rules([inner]))).toEqual({ ok: false, missing: [inner] });
  });
});

describe("intersect", () => {
  it.each([
    [["Read", "Grep"], ["Read", "Bash"], ["Read"]],
    [["Bash(git log:*)"], ["Bash"], ["Bash(git log:*)"]],
    [["Bash"], ["Bash(git log:*)"], ["Bash(git log:*)"]],
    [["Read", "Bash(git:*)"], ["*"], ["Read", "Bash(git:*)"]],
    [["*"], ["Read", "Task"], ["Read", "Task"]],
    [["*"], ["*"], ["*"]],
    [["Agent(a, b)"], ["Agent(b, c)"], ["Agent(b)"]],
    [["Agent(qa-engineer)"], ["Agent(spawn-guard:qa-engineer)"], ["Agent(spawn-guard:qa-engineer)"]],
    [["Read(src/**)"], ["Read(src/a.ts, docs/**)"], ["Read(src/a.ts)"]],
    [["Read(src/a/**)"], ["Read(src/**)"], ["Read(src/a/**)"]],
    [["mcp__a__x", "mcp__b__x"], ["mcp__*__x"], ["mcp__a__x", "mcp__b__x"]],
    [["Bash(git diff:*, ls:*)"], ["Bash(git:*)"], ["Bash(git diff:*)"]],
    [["Bash(git * x)"], ["Bash(git y *)"], []],
    [["Read"], ["Bash"], []],
    [["*"], ["Bash(git log"], []],
  ])("of %j and %j is %j", (outer, inner, expected) => {
    expect(intersect(rules(outer), rules(inner))).toEqual(expected);
  });
});
