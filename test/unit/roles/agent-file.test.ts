import { describe, expect, it } from "vitest";
import { agentText, parse, said } from "./agent-text.ts";

const named = (name: string) => `---\nname: ${name}\ndescription: d\ntools: Read\n---\n`;
const described = (description: string) => `---\nname: probe\n${description}\ntools: Read\n---\n`;

it("reads every field", () => {
  const text = agentText(
    "tools: Read, Bash(git log:*)",
    "disallowedTools: Write, Agent",
    "model: opus",
    "effort: high",
    "maxTurns: 30",
    "max_output_tokens: 2000",
    "color: blue",
  );
  expect(parse(text, "user")).toEqual({
    role: {
      name: "probe",
      origin: "user",
      description: "Use to probe.",
      tools: ["Read", "Bash(git log:*)"],
      disallowedTools: ["Write", "Agent"],
      model: "opus",
      maxTurns: 30,
      maxOutputTokens: 2000,
    },
    problems: [],
  });
});

describe("name (cases 89, 90, 97)", () => {
  it.each(["a", "code-reviewer", "Explore", "general-purpose", "x2", "2x", "no", '"true"'])(
    "%s is good",
    (name) => {
      expect(said(parse(named(name)))).toEqual([]);
      expect(parse(named(name)).role?.name).toBe(name.replaceAll('"', ""));
    },
  );

  it.each<[string, string]>([
    ["acme:probe", "has a colon"],
    ["資料整理", "ASCII letters"],
    ["revi\u0435wer", "ASCII letters"],
    ["caf\u00e9", "ASCII letters"],
    ['"  Spaced Name/with slash "', "ASCII letters"],
    ["two words", "ASCII letters"],
    ["../escape", "ASCII letters"],
    ["-first", "ASCII letters"],
    ["snake_case", "ASCII letters"],
    ['""', "ASCII letters"],
    ['"a\\nb"', "ASCII letters"],
    ['"a\\n"', "ASCII letters"],
    ["5", "name is 5 (a number), not a string; quote it"],
    ["true", "name is true (a boolean), not a string; quote it"],
    ["[a]", "name is a list, not a string"],
    ["{a: b}", "name is a map, not a string"],
    ["", "name is missing"],
    ["null", "name is missing"],
  ])("%s is an error", (name, message) => {
    const { role, problems } = parse(named(name));
    expect(role).toBeNull();
    expect(problems).toEqual([
      { file: "probe.md", line: 2, severity: "error", message: expect.stringContaining(message) },
    ]);
  });
});

describe("description (case 99)", () => {
  it.each<[string, string, string[]]>([
    ["absent", "color: red", ["warning 1: description is missing; say in a sentence when to use this agent"]],
    [
      "empty",
      "description:",
      ["warning 3: description is missing; say in a sentence when to use this agent"],
    ],
    [
      "blank",
      'description: "  "',
      ["warning 3: description is missing; say in a sentence when to use this agent"],
    ],
    ["1024 characters", `description: ${"x".repeat(1024)}`, []],
    ["1024 code points", `description: ${"\u{1F600}".repeat(1024)}`, []],
    [
      "1025 characters",
      `description: ${"x".repeat(1025)}`,
      ["warning 3: description has 1025 characters and is paid for in every session; keep it to 1024"],
    ],
  ])("%s", (_what, line, expected) => {
    const parsed = parse(described(line));
    expect(said(parsed)).toEqual(expected);
    expect(parsed.role).not.toBeNull();
  });

  it("keeps a date a string, and refuses what is none", () => {
    expect(parse(described("description: 2026-09-01")).role?.description).toBe("2026-09-01");
    expect(said(parse(described("description: 7")))).toEqual([
      "error 3: description is 7 (a number), not a string; quote it",
    ]);
  });
});

describe("tools: one set in every spelling (cases 79, 82)", () => {
  it.each<[string, string[]]>([
    ["comma string", ["tools: Read, Grep,Glob ,  Bash"]],
    ["quoted comma string", ['tools: "Read, Grep, Glob, Bash"']],
    ["flow list", ["tools: [\"Read\", Grep, 'Glob', Bash]"]],
    ["flow list over lines", ["tools: [", "  Read, Grep,", "  Glob, Bash,", "  ]"]],
    ["block list", ["tools:", "  - Read", "  - Grep", '  - "Glob"', "  - Bash"]],
    ["unindented block list", ["tools:", "- Read", "- Grep", "- Glob", "- Bash"]],
    ["commas inside a list entry", ["tools:", "  - Read, Grep", "  - Glob,Bash"]],
    ["comma string over lines", ["tools:", "  Read,", "  Grep, Glob,", "  Bash"]],
    ["empties, repeats, a comment", ["tools: Read, , Grep,Read,, Glob, Bash, # and no more"]],
    [
      "empty list entries",
      ["tools:", "  - Read", "  -", '  - ""', "  - Grep", "  - Glob", "  - Bash", "  - Read"],
    ],
    ["quotes inside the string", ["tools: Read, \"Grep\", 'Glob', Bash"]],
  ])("%s", (_what, lines) => {
    const parsed = parse(agentText(...lines));
    expect(said(parsed)).toEqual([]);
    expect(parsed.role?.tools).toEqual(["Read", "Grep", "Glob", "Bash"]);
  });

  it.each<[string, string[], string]>([
    ["spaces only", ["tools: Read Grep Glob Bash"], "Read Grep Glob Bash"],
    ["lines only", ["tools: |", "  Read Grep", "  Glob Bash"], "Read Grep\\nGlob Bash"],
    ["a space among commas", ["tools: Read, Grep Glob, Bash"], "Grep Glob"],
  ])("%s: split, with a warning", (_what, lines, shown) => {
    const parsed = parse(agentText(...lines));
    expect(said(parsed)).toEqual([
      `warning 4: tools has only spaces in "${shown}"; read as several tools, put commas between`,
    ]);
    expect(parsed.role?.tools).toEqual(["Read", "Grep", "Glob", "Bash"]);
  });

  it.each<[string, string, string[]]>([
    [
      "commas in a rule",
      "Read, Bash(git diff:*, git log:*), Glob",
      ["Read", "Bash(git diff:*, git log:*)", "Glob"],
    ],
    [
      "commas in a flow list's rule",
      "[Bash(git diff:*, git log:*), Read]",
      ["Bash(git diff:*, git log:*)", "Read"],
    ],
    ["paths", "Read(/docs/**), Write(.temp/**)", ["Read(/docs/**)", "Write(.temp/**)"]],
    ["brackets in brackets", "Bash(echo $(date), x), Read", ["Bash(echo $(date), x)", "Read"]],
    ["a bracket in quotes", 'Bash(echo ")", y), Read', ['Bash(echo ")", y)', "Read"]],
    ["an escaped bracket", "Bash(echo \\)), Read", ["Bash(echo \\))", "Read"]],
    ["apostrophes", "Bash(echo don't), Write(can't)", ["Bash(echo don't)", "Write(can't)"]],
    ["spawn rights apart", "Read, Agent(a), Task(b:c)", ["Read", "Agent(a)", "Task(b:c)"]],
    ["spawn rights of none", "Read, Agent()", ["Read", "Agent()"]],
    ["MCP names", "mcp__d__*, mcp__f, mcp__*__s", ["mcp__d__*", "mcp__f", "mcp__*__s"]],
    ["a quoted star", '"*"', ["*"]],
    ["a star among others", "Read, *", ["Read", "*"]],
  ])("%s", (_what, written, tools) => {
    const parsed = parse(agentText(`tools: ${written}`));
    expect(said(parsed)).toEqual([]);
    expect(parsed.role?.tools).toEqual(tools);
  });

  it.each<[string, string[], number, string]>([
    [
      "bracket never closed",
      ["tools: Read, Bash(git log"],
      4,
      'tools: "Read, Bash(git log" has a `(` that is never',
    ],
    ["bracket never opened", ["tools: Read, Grep)"], 4, 'tools: "Read, Grep)" has a `)` without its `(`'],
    ["quote never closed", ['tools: Read, "Grep'], 4, 'has a quote " that is never closed'],
    ["a list in a string", ['tools: "[Read, Grep]"'], 4, 'tools: "[Read" is no tool name'],
    ["dashes in a folded string", ["tools: >-", "  - Read", "  - Grep"], 4, 'tools: "-" is no tool name'],
    ["a space before the rule", ["tools: Agent (worker)"], 4, 'tools: "(worker)" is no tool name'],
    ["a map", ["tools: {Read: true}"], 4, "tools is a map, not a list of tools"],
    ["a block map", ["tools:", "  Read: true"], 4, "tools is a map, not a list of tools"],
    ["true", ["tools: true"], 4, "tools is true (a boolean), not a list of tools"],
    ["a number", ["tools: 3"], 4, "tools is 3 (a number), not a list of tools"],
    ["hex in a list", ["tools: [Read, 0x10]"], 4, "tools has the entry 0x10 (a number)"],
    ["null in a list", ["tools:", "  - Read", "  - null"], 6, "tools has the entry null"],
    ["false in a list", ["tools: [false]"], 4, "tools has the entry false (a boolean)"],
    ["a list in a list", ["tools: [[Read]]"], 4, "tools has the entry a list"],
    ["a map in a list", ["tools:", "  - Bash: yes"], 5, "tools has the entry a map"],
    [
      "in disallowedTools too",
      ["tools: Read", "disallowedTools: [Bash, 1]"],
      5,
      "disallowedTools has the entry 1",
    ],
    [
      "disallowedTools true",
      ["tools: Read", "disallowedTools: true"],
      5,
      "disallowedTools is true (a boolean)",
    ],
  ])("%s is an error and no role", (_what, lines, line, message) => {
    const { role, problems } = parse(agentText(...lines));
    expect(role).toBeNull();
    expect(problems).toEqual([
      { file: "probe.md", line, severity: "error", message: expect.stringContaining(message) },
    ]);
  });
});

describe("tools: none or all (cases 4, 80)", () => {
  const inheritsAll =
    "tools is not set, so the agent inherits all tools, including the spawn tool; list the tools it needs";
  const noTools = "tools is empty, so the agent has no tools; list those it needs";

  it.each<[string, string[], string[] | null, string[]]>([
    ["no key", [], null, [`warning 1: ${inheritsAll}`]],
    ["no value", ["tools:"], null, [`warning 4: ${inheritsAll}`]],
    ["null", ["tools: null"], null, [`warning 4: ${inheritsAll}`]],
    ["~", ["tools: ~"], null, [`warning 4: ${inheritsAll}`]],
    ["false", ["tools: false"], [], [`warning 4: ${noTools}`]],
    ["[]", ["tools: []"], [], [`warning 4: ${noTools}`]],
    ['""', ['tools: ""'], [], [`warning 4: ${noTools}`]],
    ["commas only", ['tools: " , ,"'], [], [`warning 4: ${noTools}`]],
  ])("%s", (_what, lines, tools, problems) => {
    const parsed = parse(agentText(...lines));
    expect(parsed.role?.tools).toEqual(tools);
    expect(said(parsed)).toEqual(problems);
  });

  it("says what is left when disallowedTools takes the spawn tool away (case 86)", () => {
    const parsed = parse(agentText("disallowedTools: Bash(curl *), Agent"));
    expect(parsed.role).toMatchObject({ tools: null, disallowedTools: ["Bash(curl *)", "Agent"] });
    expect(said(parsed)).toEqual([
      "warning 1: tools is not set, so the agent inherits all tools but its disallowedTools; list the tools it needs",
    ]);
  });

  it.each(["disallowedTools:", "disallowedTools: []", "disallowedTools: false", "color: red"])(
    "%s disallows nothing",
    (line) => {
      const parsed = parse(agentText("tools: Read", line));
      expect(said(parsed)).toEqual([]);
      expect(parsed.role?.disallowedTools).toEqual([]);
    },
  );
});

describe("numbers and model (case 97)", () => {
  it.each<[string, object]>([
    ["maxTurns: 1", { maxTurns: 1 }],
    ["maxTurns: 5000", { maxTurns: 5000 }],
    ["maxTurns:", { maxTurns: null }],
    ["max_output_tokens: 50", { maxOutputTokens: 50 }],
    ["max_output_tokens: 8192", { maxOutputTokens: 8192 }],
    ["model: haiku", { model: "haiku" }],
    ["model:", { model: null }],
  ])("%s", (line, fields) => {
    const parsed = parse(agentText("tools: Read", line));
    expect(said(parsed)).toEqual([]);
    expect(parsed.role).toMatchObject(fields);
  });

  it.each<[string, string]>([
    ["maxTurns: 0", "maxTurns is 0 (a number), not an integer of 1 or more; write a number without quotes"],
    ["maxTurns: -1", "maxTurns is -1 (a number), not an integer of 1 or more; write a number without quotes"],
    [
      "maxTurns: 2.5",
      "maxTurns is 2.5 (a number), not an integer of 1 or more; write a number without quotes",
    ],
    ['maxTurns: "5"', 'maxTurns is "5", not an integer of 1 or more; write a number without quotes'],
    ["maxTurns: five", 'maxTurns is "five", not an integer of 1 or more; write a number without quotes'],
    [
      "maxTurns: .inf",
      "maxTurns is .inf (a number), not an integer of 1 or more; write a number without quotes",
    ],
    [
      "maxTurns: .nan",
      "maxTurns is .nan (a number), not an integer of 1 or more; write a number without quotes",
    ],
    [
      "maxTurns: 1e300",
      "maxTurns is 1e300 (a number), not an integer of 1 or more; write a number without quotes",
    ],
    ["maxTurns: [5]", "maxTurns is a list, not an integer of 1 or more; write a number without quotes"],
    [
      "maxTurns: true",
      "maxTurns is true (a boolean), not an integer of 1 or more; write a number without quotes",
    ],
    [
      "max_output_tokens: 49",
      "max_output_tokens is 49 (a number), not an integer from 50 to 8192; write a number without quotes",
    ],
    [
      "max_output_tokens: 8193",
      "max_output_tokens is 8193 (a number), not an integer from 50 to 8192; write a number without quotes",
    ],
    ["model: 1.0", "model is 1.0 (a number), not a string; quote it"],
    ["model: [opus]", "model is a list, not a string; quote it"],
  ])("%s is an error", (line, message) => {
    const parsed = parse(agentText("tools: Read", line));
    expect(parsed.role).toBeNull();
    expect(said(parsed)).toEqual([`error 5: ${message}`]);
  });

  it("reports every field that is wrong, in the order of lines", () => {
    const parsed = parse("---\nmodel: 1\nname: a:b\nmaxTurns: 0\ntools: 0x10\n---\n");
    expect(parsed.role).toBeNull();
    expect(parsed.problems.map(({ severity, line }) => [severity, line])).toEqual([
      ["warning", 1],
      ["error", 2],
      ["error", 3],
      ["error", 4],
      ["error", 5],
    ]);
  });
});

describe("a key near a known one asks: did you mean (case 81)", () => {
  it.each<[string, string]>([
    ["allowedTools", "tools"],
    ["allowed-tools", "tools"],
    ["allowed_tools", "tools"],
    ["tool", "tools"],
    ["Tools", "tools"],
    ["TOOLS", "tools"],
    ["toolss", "tools"],
    ["disallowed_tools", "disallowedTools"],
    ["disallowed-tools", "disallowedTools"],
    ["disalowedTools", "disallowedTools"],
    ["disallowedTool", "disallowedTools"],
    ["deniedTools", "disallowedTools"],
    ["max_turns", "maxTurns"],
    ["max-turns", "maxTurns"],
    ["maxturns", "maxTurns"],
    ["maxTurn", "maxTurns"],
    ["maxOutputTokens", "max_output_tokens"],
    ["max-output-tokens", "max_output_tokens"],
    ["max_output_token", "max_output_tokens"],
    ["Description", "description"],
    ["permission_mode", "permissionMode"],
    ["mcp_servers", "mcpServers"],
  ])("%s: %s", (key, known) => {
    const parsed = parse(agentText("tools: Read", `${key}: x`));
    expect(said(parsed)).toEqual([
      `warning 5: key \`${key}\` is unknown and has no effect; did you mean \`${known}\`?`,
    ]);
  });

  it.each([
    "version",
    "author",
    "tags",
    "category",
    "license",
    "temperature",
    "toolchain",
    "priority",
    "title",
    "examples",
    "node",
    "effort",
    "skills",
    "memory",
    "background",
    "isolation",
    "color",
    "initialPrompt",
    "hooks",
    "constructor",
    "toString",
  ])("%s: nothing", (key) => {
    expect(said(parse(agentText("tools: Read", `${key}: x`)))).toEqual([]);
  });
});

describe("fields that Claude Code ignores in a plugin's agents (case 87)", () => {
  it.each(["hooks: {}", "mcpServers: [docs]", "permissionMode: plan"])("%s", (line) => {
    const key = line.slice(0, line.indexOf(":"));
    const text = agentText("tools: Read", line);
    expect(said(parse(text, "plugin"))).toEqual([
      `warning 5: \`${key}\` is ignored by Claude Code in a plugin's agent; remove it`,
    ]);
    expect(said(parse(text, "project"))).toEqual([]);
    expect(parse(text, "plugin").role?.tools).toEqual(["Read"]);
  });
});
