import { describe, expect, it } from "vitest";
import { allowedTools, maySpawn } from "../../../src/payload/allowed-tools.ts";
import { BUILTIN_ROLES } from "../../../src/roles/builtin-roles.ts";
import { aRole } from "./samples.ts";

describe("allowedTools", () => {
  it.each<[string, string[], string[], string[]]>([
    ["the list", ["Read", "Bash(git log:*)"], [], ["Read", "Bash(git log:*)"]],
    ["less what is disallowed", ["Read", "Write"], ["Write"], ["Read"]],
    ["less every rule of a disallowed tool", ["Read", "Bash(git log:*)", "Bash"], ["Bash"], ["Read"]],
    ["but not the tool of a disallowed rule", ["Bash", "Bash(rm:*)"], ["Bash(rm:*)"], ["Bash"]],
  ])("is %s", (_, tools, disallowedTools, expected) => {
    expect(allowedTools(aRole({ tools, disallowedTools }))).toEqual({ tools: expected, warning: null });
  });

  it.each<[string, Parameters<typeof aRole>[0], RegExp]>([
    [
      "no list",
      { tools: null },
      /inherits every tool, the spawn tool included; review its agent file \(agents\/db-engineer\.md\)/,
    ],
    [
      "no list, spawning disallowed",
      { tools: null, disallowedTools: ["Agent"] },
      /inherits every tool, except what disallowedTools takes away/,
    ],
    ["no list, built in", { tools: null, origin: "builtin" }, /built into Claude Code/],
    ["an empty list", { tools: [] }, /has an empty tools list and can use no tool; review its agent file/],
    [
      "a list that is all disallowed",
      { tools: ["Bash"], disallowedTools: ["Bash"] },
      /disallows every tool that it lists/,
    ],
  ])("is * and a warning for %s", (_, role, warning) => {
    const allowed = allowedTools(aRole(role));
    expect(allowed.tools).toEqual(["*"]);
    expect(allowed.warning).toMatch(warning);
    expect(allowed.warning).toContain("db-engineer");
  });
});

describe("maySpawn", () => {
  it.each<[boolean, string[] | null, string[]]>([
    [false, ["Read"], []],
    [false, [], []],
    [true, ["Agent"], []],
    [true, ["Task"], []],
    [true, ["Agent(qa-engineer, db-engineer)", "Read"], []],
    [false, ["Agent(qa-engineer)"], ["Agent"]],
    [false, ["Agent()"], []],
    [false, ["AgentTool", "TaskCreate"], []],
    [true, null, []],
    [true, ["*"], []],
    [false, null, ["Agent"]],
    [false, ["*"], ["Task"]],
  ])("is %s for tools %j without %j", (expected, tools, disallowedTools) => {
    expect(maySpawn(aRole({ tools, disallowedTools }))).toBe(expected);
  });

  it("is true of one agent that Claude Code brings along", () => {
    expect(BUILTIN_ROLES.filter(maySpawn).map(({ name }) => name)).toEqual(["general-purpose"]);
  });
});
