import { describe, expect, it } from "vitest";
import { allows } from "../../../../src/guard/tools/allows.ts";
import { parseToolRule } from "../../../../src/guard/tools/tool-rule.ts";
import type { ToolUse } from "../../../../src/guard/tools/tool-use.ts";
import { splitToolList } from "../../../../src/roles/tool-list.ts";
import { bash, call } from "./call.ts";

/** What an agent file's tools line lets through, from its text to the call. */
function allowed(list: string, use: ToolUse): boolean {
  const split = splitToolList(list);
  if (split.kind === "malformed") throw new Error(split.problem);
  return allows(split.tools.map(parseToolRule), use).allowed;
}

describe("a tools line of an agent file", () => {
  it.each([
    ["Read, Bash(npm test:*, npm run lint:*), Glob", bash("npm run lint -- --fix"), true],
    ["Read, Bash(npm test:*, npm run lint:*), Glob", bash("npm publish"), false],
    ["Read(/handbook/**), Write(.out/**)", call("Write", { file_path: ".out/a.md" }), true],
    ["Read(/handbook/**), Write(.out/**)", call("Write", { file_path: "handbook/a.md" }), false],
    ["Agent(tester), Agent(writer)", call("Agent", { subagent_type: "tester" }), true],
    ["Read, Task(org:tester)", call("Agent", { subagent_type: "org:tester" }), true],
    ["Read, Task(org:tester)", call("TaskStop", { task_id: "1" }), false],
    ["Read, mcp__wiki__*, mcp__*__find", call("mcp__wiki__edit"), true],
    ["Read, mcp__wiki__*, mcp__*__find", call("mcp__plugin_org_db__find"), true],
    ["Read, mcp__wiki__*, mcp__*__find", call("mcp__plugin_org_db__drop"), false],
  ])("%s, %j: %s", (list, use, expected) => {
    expect(allowed(list, use)).toBe(expected);
  });
});
