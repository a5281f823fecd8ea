import { describe, expect, it } from "vitest";
import { spawnableRoles, splitToolList } from "../../../src/roles/tool-list.ts";

describe("spawnableRoles (case 83)", () => {
  it.each<[string[], "any" | "none" | string[]]>([
    [[], "none"],
    [["Read", "Bash(git log:*)"], "none"],
    [["Agent"], "any"],
    [["Task"], "any"],
    [["*"], "any"],
    [["Read", "Agent(*)"], "any"],
    [["Agent(a)", "Agent"], "any"],
    [["Agent(a, b)"], ["a", "b"]],
    [
      ["Agent(a)", "Read", "Agent(b)"],
      ["a", "b"],
    ],
    [
      ["Agent(a)", "Task(b)"],
      ["a", "b"],
    ],
    [
      ["Agent(a, b)", "Agent(b,a)"],
      ["a", "b"],
    ],
    [
      ["Task(gov:worker)", "Task(gov:researcher)"],
      ["gov:worker", "gov:researcher"],
    ],
    [["Agent(\"a\", 'b')"], ["a", "b"]],
    [["Agent()"], "none"],
    [["Agent( )"], "none"],
    [["Agent(,)"], "none"],
    [["Agent()", "Agent(a)"], ["a"]],
    [["AgentX(a)", "TaskStop", "agent", "mcp__s__Agent"], "none"],
  ])("%j: %j", (tools, expected) => {
    expect(spawnableRoles(tools)).toEqual(expected);
  });
});

describe("splitToolList", () => {
  it("names what it split at spaces", () => {
    expect(splitToolList("Read Grep, Bash(git log)")).toEqual({
      kind: "tools",
      tools: ["Read", "Grep", "Bash(git log)"],
      splitAtSpaces: ["Read Grep"],
    });
  });

  it("shortens what it shows of a long malformed list", () => {
    const result = splitToolList(`Bash(${"x".repeat(1000)}`);
    expect(result.kind).toBe("malformed");
    expect(JSON.stringify(result).length).toBeLessThan(200);
  });
});
