import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { runBuild } from "../../../src/cli/build-command.ts";
import { findBlock } from "../../../src/payload/prompt-block.ts";
import { aWorld } from "./world.ts";

const GOOD = ["--role", "db-engineer", "--task", "design the schema migration"];

function built(argv: string[], world = aWorld()) {
  const result = runBuild(argv, world);
  expect(result).toMatchObject({ exitCode: 0, stderr: "" });
  return JSON.parse(result.stdout);
}

function fromJson(args: unknown, world = {}) {
  return runBuild(["--json"], aWorld({ stdin: JSON.stringify(args), ...world }));
}

describe("spawn-guard build", () => {
  it("prints one object with the call, its input, the payload and the validation", () => {
    const answer = built(GOOD);
    expect(Object.keys(answer)).toEqual(["agent_call", "agent_input", "spawn_payload", "validation"]);
    expect(answer.validation).toBe("ok");
    expect(answer.spawn_payload).toEqual({
      trace_id: "wf-20260427-abc123-spawn-001",
      parent_trace_id: null,
      subagent_role: "db-engineer",
      goal: "design the schema migration",
      constraints: [],
      state_slice: {},
      allowed_tools: ["Read", "Grep", "Glob", "Bash", "Write", "Edit"],
      budget: {
        max_input_tokens: 150_000,
        max_output_tokens: 2000,
        max_tool_calls: 100,
        max_turns: 30,
        timeout_ms: 1_800_000,
        retry_budget: 1,
      },
      untrusted_inputs: [],
    });
    expect(answer.agent_input).toMatchObject({
      subagent_type: "spawn-guard:db-engineer",
      name: "db-engineer-001",
      description: "db-engineer: design the schema migration",
    });
    expect(new Function("Agent", `return ${answer.agent_call}`)((x: unknown) => x)).toEqual(
      answer.agent_input,
    );
    expect(findBlock(answer.agent_input.prompt)).toMatchObject({ kind: "one", json: answer.spawn_payload });
  });

  it.each(["Explore", "Plan", "general-purpose"])("builds for %s, by its bare name", (role) => {
    const answer = built(["--role", role, "--task", "look at the schema"]);
    expect(answer.agent_input.subagent_type).toBe(role);
    expect(answer.spawn_payload.allowed_tools).toEqual(["*"]);
    expect(answer.spawn_payload.budget).toMatchObject({ max_turns: 50, max_output_tokens: 2000 });
  });

  it("takes every option", () => {
    const answer = built(
      [
        ...GOOD,
        "--stack=postgres",
        "--max-tokens=30000",
        "--max-output=500",
        "--max-tool-calls=10",
        "--max-turns=5",
        "--timeout-ms=60000",
        "--parent-trace-id=wf-20260427-abc123-spawn-001",
        "--run=zz9zz9",
        "--seq=12",
        "--constraint=keep the old columns",
        "--constraint=no downtime",
        "--state=state.json",
        "--untrusted=L0:issue=a=b.txt",
        "--untrusted=tool:WebFetch:t1=page.html",
      ],
      aWorld({
        files: { "state.json": '{"current_branch":"main"}', "a=b.txt": "one", "page.html": "<b>two</b>" },
      }),
    );
    expect(answer.spawn_payload).toMatchObject({
      trace_id: "wf-20260427-zz9zz9-spawn-012",
      parent_trace_id: "wf-20260427-abc123-spawn-001",
      constraints: ["keep the old columns", "no downtime", "Stack: postgres"],
      state_slice: { current_branch: "main" },
      budget: {
        max_input_tokens: 30_000,
        max_output_tokens: 500,
        max_tool_calls: 10,
        max_turns: 5,
        timeout_ms: 60_000,
        retry_budget: 1,
      },
      untrusted_inputs: [
        { source: "L0:state:state.json", wrapped: true },
        { source: "L0:issue", wrapped: true },
        { source: "tool:WebFetch:t1", wrapped: true },
      ],
    });
    expect(answer.agent_input.prompt).toContain(
      '<untrusted_content source="tool:WebFetch:t1" timestamp="2026-04-27T12:00:00.000Z">\n&lt;b&gt;two&lt;/b&gt;\n</untrusted_content>',
    );
  });

  it.each([
    [["--task", "--role is what this is about"], "--role is what this is about"],
    [["--task=--dashes first, then = and 'quotes'"], "--dashes first, then = and 'quotes'"],
    [["--task", "-x starts with one dash"], "-x starts with one dash"],
    [["--task=first line\nsecond line"], "first line\nsecond line"],
    [["--task", "$(touch X); `touch X` | cat"], "$(touch X); `touch X` | cat"],
    [["--task", "日本語のログインフォーム😀"], "日本語のログインフォーム😀"],
  ])("takes the task of %j as it is", (argv, goal) => {
    expect(built(["--role", "db-engineer", ...argv]).spawn_payload.goal).toBe(goal);
  });

  it("reads the state from standard input for -", () => {
    const answer = built([...GOOD, "--state", "-"], aWorld({ stdin: '\ufeff{"a":"日本"}' }));
    expect(answer.spawn_payload.state_slice).toEqual({
      a: '<untrusted_content source="L0:state:stdin" timestamp="2026-04-27T12:00:00.000Z">\n日本\n</untrusted_content>',
    });
    expect(answer.spawn_payload.untrusted_inputs).toEqual([{ source: "L0:state:stdin", wrapped: true }]);
  });

  it("warns of bytes that are no UTF-8 and goes on", () => {
    const files = { "a.txt": new Uint8Array([0x61, 0xff, 0x62]) };
    const answer = built([...GOOD, "--untrusted", "L0:a=a.txt"], aWorld({ files }));
    expect(answer.agent_input.prompt).toContain("a\ufffdb");
    expect(answer.validation).toMatch(/^warnings: \["--untrusted L0:a has bytes that are no UTF-8/);
  });

  it("warns of a prompt that is larger than the budget", () => {
    const { validation } = built([...GOOD, "--max-tokens", "100"]);
    expect(validation).toMatch(
      /^warnings: \["the prompt alone is about \d+ tokens of max_input_tokens 100; /,
    );
    expect(JSON.parse(validation.slice("warnings: ".length))).toHaveLength(1);
  });

  it("shows its options for --help", () => {
    const { exitCode, stdout, stderr } = runBuild(["--help"], aWorld());
    expect([exitCode, stderr]).toEqual([0, ""]);
    for (const option of [
      "--role",
      "--task",
      "--stack",
      "--max-tokens",
      "--max-output",
      "--max-tool-calls",
      "--max-turns",
      "--timeout-ms",
      "--parent-trace-id",
      "--run",
      "--seq",
      "--constraint",
      "--state",
      "--untrusted",
      "--json",
    ])
      expect(stdout).toContain(`  ${option}`);
  });
});

describe("the stack", () => {
  const task = ["--task", "design the schema migration"];
  const warnings = (argv: string[]): string[] => {
    const { validation } = built(argv);
    return validation === "ok" ? [] : JSON.parse(validation.replace("warnings: ", ""));
  };

  it("chooses the role where none is named and it fits one alone, and says so", () => {
    const answer = built(["--stack", "postgres", ...task]);
    expect(answer.spawn_payload).toMatchObject({
      subagent_role: "db-engineer",
      constraints: ["Stack: postgres"],
    });
    expect(answer.validation).toBe(
      `warnings: ${JSON.stringify(['role db-engineer was chosen for stack "postgres" by the role-selection table: stack word "postgres"'])}`,
    );
  });

  it("leaves what nothing matches to the software-engineer", () => {
    const answer = built(["--stack", "cobol", ...task]);
    expect(answer.spawn_payload.subagent_role).toBe("software-engineer");
    expect(answer.validation).toContain(
      "nothing in the table matches, and software-engineer is for what is unmatched",
    );
  });

  it.each([
    ["kotlin", /fits 2 roles; name one of them as role:\n {2}java-engineer: .*\n {2}mobile-engineer: /],
    ["react and postgres", /fits 2 roles; .*\n {2}frontend-engineer: stack word "react"\n {2}db-engineer: /],
    ["  ", /role is missing and stack is blank/],
  ])("chooses nothing where it fits several roles or none: %j", (stack, problem) => {
    const { exitCode, stdout, stderr } = runBuild(["--stack", stack, ...task], aWorld());
    expect([exitCode, stdout]).toEqual([1, ""]);
    expect(stderr).toMatch(problem);
    const json = fromJson({ stack, task: task[1] });
    expect(json.exitCode).toBe(1);
    expect(JSON.parse(json.stderr).error).toMatch(problem);
  });

  it("that is another role's is said, with the reason", () => {
    expect(warnings(["--role", "frontend-engineer", "--stack", "postgres", ...task])).toEqual([
      'stack "postgres" is db-engineer\'s (stack word "postgres") by the role-selection table, and the role is frontend-engineer; build for db-engineer unless frontend-engineer is meant',
    ]);
    expect(warnings(["--role", "db-engineer", "--stack", "kotlin", ...task])[0]).toContain(
      "build for java-engineer or mobile-engineer unless db-engineer is meant",
    );
  });

  it.each([
    ["db-engineer", "postgres"],
    ["mobile-engineer", "kotlin"],
    ["frontend-engineer", "react on postgres"],
    ["qa-engineer", "react"],
    ["security-engineer", "postgres"],
    ["python-engineer", "cobol"],
    ["Explore", "postgres"],
  ])("does not contradict %s with %s", (role, stack) => {
    const about = warnings(["--role", role, "--stack", stack, ...task]).filter((text) => /stack/.test(text));
    expect(about).toEqual([]);
  });
});

describe("spawn-guard build refuses", () => {
  it.each<[string, string[], string]>([
    [
      "a short task",
      ["--role", "db-engineer", "--task", "short"],
      '--task: goal "short" has 5 characters; 10 to 1000 are allowed',
    ],
    [
      "input tokens over the bound",
      [...GOOD, "--max-tokens", "200001"],
      "--max-tokens: budget.max_input_tokens is 200001; at most 200000",
    ],
    [
      "negative input tokens",
      [...GOOD, "--max-tokens", "-5"],
      "--max-tokens: budget.max_input_tokens is -5; at least 100",
    ],
    [
      "output over the role's cap",
      [...GOOD, "--max-output", "2001"],
      "--max-output: budget.max_output_tokens is 2001; at most 2000",
    ],
    [
      "turns over the role's cap",
      [...GOOD, "--max-turns", "31"],
      "--max-turns: budget.max_turns is 31; at most 30",
    ],
    ["a short constraint", [...GOOD, "--constraint", "abc"], "--constraint: constraints[0]"],
    ["a wrong parent", [...GOOD, "--parent-trace-id", "x"], "--parent-trace-id: parent_trace_id"],
    [
      "a wrong run",
      [...GOOD, "--run", "ABC123", "--seq", "1"],
      'run is "ABC123"; it has to be six of 0-9a-z',
    ],
    [
      "a negative seq",
      [...GOOD, "--run", "abc123", "--seq", "-1"],
      "seq is -1; it has to be a whole number, 0 to 9007199254740991",
    ],
    [
      "a state that is missing",
      [...GOOD, "--state", "no.json"],
      "--state no.json cannot be read: no such file",
    ],
    [
      "a state that is a list",
      [...GOOD, "--state", "list.json"],
      "--state list.json is [1]; it has to be an object",
    ],
    ["a state that is no JSON", [...GOOD, "--state", "text.txt"], "--state text.txt is not JSON"],
    [
      "a wrong known state member",
      [...GOOD, "--state", "wrong.json"],
      "--state: state_slice.active_files is 1; has to be a list",
    ],
    [
      "a foreign text that is missing",
      [...GOOD, "--untrusted", "a=no.txt"],
      "--untrusted a cannot be read: no such file",
    ],
    ["a state from nowhere", [...GOOD, "--state", "-"], "--state - needs standard input"],
  ])("%s", (_, argv, problem) => {
    const files = { "list.json": "[1]", "text.txt": "hello", "wrong.json": '{"active_files":1}' };
    const { exitCode, stdout, stderr } = runBuild(argv, aWorld({ files }));
    expect([exitCode, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(problem);
    expect(stderr).toMatch(/^spawn-guard build: .*\n$/s);
  });

  it.each([
    "frontend-enginer",
    "spawn-guard:db-engineer",
    "DB-Engineer",
    "",
    "../../package",
    "__proto__",
    "db-engineer\n",
  ])("the role %j, and lists the 26 and the 3", (role) => {
    const { exitCode, stdout, stderr } = runBuild(["--role", role, "--task", "design the schema"], aWorld());
    expect([exitCode, stdout]).toEqual([1, ""]);
    expect(stderr).toContain(`role ${JSON.stringify(role)} is unknown`);
    expect(stderr).toMatch(/The plugin's 26: cloud-architect, .*, ui-ux-designer\n/);
    expect(stderr).toContain("Claude Code's 3: Explore, Plan, general-purpose");
  });

  it("a misspelt role with the name that was meant", () => {
    const { stderr } = runBuild(["--role", "frontend-enginer", "--task", "build the form"], aWorld());
    expect(stderr).toContain("did you mean frontend-engineer?");
  });

  it("the same text of a person only where files may be read", () => {
    const world = aWorld({ files: { a: "secret" }, readFile: null });
    for (const option of [
      ["--state", "a"],
      ["--untrusted", "a=a"],
    ]) {
      const { exitCode, stderr } = runBuild([...GOOD, ...option], world);
      expect(exitCode).toBe(1);
      expect(stderr).toMatch(/would read a file .* call `spawn-guard build` with the Bash tool/);
    }
  });
});

describe("wrong usage of spawn-guard build", () => {
  it.each<[string, string[], string]>([
    ["no role", ["--task", "design the schema"], "--role is missing"],
    ["no task", ["--role", "db-engineer"], "--task is missing"],
    [
      "an unknown option",
      [...GOOD, "--max-token", "5"],
      "unknown option '--max-token'\n(Did you mean --max-tokens?)",
    ],
    [
      "an option without its value",
      ["--role", "db-engineer", "--task"],
      "option '--task <text>' argument missing",
    ],
    ["no number", [...GOOD, "--max-turns", "3k"], '--max-turns is "3k"; write a whole number'],
    ["no tokens", [...GOOD, "--max-tokens", "abc"], "write a whole number, 100 to 200000"],
    ["no tokens of output", [...GOOD, "--max-output", "abc"], "whole number, 50 to the role's own cap"],
    ["no calls", [...GOOD, "--max-tool-calls", "abc"], "whole number, 1 to 100"],
    ["no time", [...GOOD, "--timeout-ms", "1s"], "whole number, 30000 to 3600000"],
    [
      "a number that would be altered",
      [...GOOD, "--run", "abc123", "--seq", "99999999999999999999"],
      '--seq is "99999999999999999999"; write a whole number, 0 to 9007199254740991',
    ],
    [
      "an option where a value should be",
      ["--role", "--task", "x"],
      '--role has no value: "--task" follows it',
    ],
    ["the same with =", ["--role", "--task=x"], '--role has no value: "--task=x" follows it'],
    ["a fraction", [...GOOD, "--max-turns", "3.5"], '--max-turns is "3.5"'],
    ["another notation", [...GOOD, "--max-turns", "0x10"], '--max-turns is "0x10"'],
    ["an empty number", [...GOOD, "--max-turns", ""], '--max-turns is ""'],
    ["an option twice", [...GOOD, "--role", "Plan"], "--role is given 2 times; give it once"],
    [
      "a task without quotes",
      [...GOOD, "and", "more"],
      'unexpected text "and"; put a value with spaces into quotes',
    ],
    ["run without seq", [...GOOD, "--run", "abc123"], "run and seq name a spawn together"],
    ["seq without run", [...GOOD, "--seq", "1"], "run and seq name a spawn together"],
    ["no label", [...GOOD, "--untrusted", "file.txt"], '--untrusted is "file.txt"; write LABEL=FILE'],
    ["an empty label", [...GOOD, "--untrusted", "=file.txt"], "write LABEL=FILE"],
    ["no file", [...GOOD, "--untrusted", "label="], "write LABEL=FILE"],
  ])("%s", (_, argv, problem) => {
    const { exitCode, stdout, stderr } = runBuild(argv, aWorld());
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toContain(problem);
  });

  it("echoes no long values", () => {
    for (const argv of [
      [`--${"x".repeat(5000)}`],
      [...GOOD, "--seq", "y".repeat(5000)],
      [...GOOD, "z".repeat(5000)],
    ])
      expect(runBuild(argv, aWorld()).stderr.length).toBeLessThan(500);
  });
});

describe("spawn-guard build --json", () => {
  const good = { role: "db-engineer", task: "design the schema migration" };

  it("builds what the options build", () => {
    const named = fromJson({
      ...good,
      stack: "postgres",
      max_tokens: 30_000,
      maxOutput: 500,
      max_tool_calls: 10,
      maxTurns: 5,
      timeoutMs: 60_000,
      parent_trace_id: null,
      run: "abc123",
      seq: 1,
      constraints: ["keep the old columns"],
    });
    const options = runBuild(
      [
        ...GOOD,
        "--stack=postgres",
        "--max-tokens=30000",
        "--max-output=500",
        "--max-tool-calls=10",
        "--max-turns=5",
        "--timeout-ms=60000",
        "--run=abc123",
        "--seq=1",
        "--constraint=keep the old columns",
      ],
      aWorld(),
    );
    expect(named).toEqual(options);
  });

  it("takes state and foreign texts inline, and marks both", () => {
    const result = fromJson(
      { ...good, state: { a: 1 }, untrusted: [{ label: "L0:page", text: "<b>hi</b>" }] },
      { readFile: null },
    );
    const answer = JSON.parse(result.stdout);
    expect(answer.spawn_payload).toMatchObject({
      state_slice: { a: 1 },
      untrusted_inputs: [
        { source: "L0:state:arguments", wrapped: true },
        { source: "L0:page", wrapped: true },
      ],
    });
    expect(answer.agent_input.prompt).toContain("&lt;b&gt;hi&lt;/b&gt;");
  });

  it.each<[string, unknown, number, string]>([
    [
      "an unknown name",
      { ...good, maxToken: 1 },
      2,
      '"maxToken" is not a known argument; did you mean max_tokens?',
    ],
    [
      "a name near to none",
      { ...good, colour: 1 },
      2,
      '"colour" is not a known argument; known are role, task,',
    ],
    ["a name in both spellings", { ...good, max_turns: 1, maxTurns: 1 }, 2, "max_turns is given twice"],
    ["an option's spelling", { ...good, "max-turns": 1 }, 2, "did you mean max_turns?"],
    ["no role", { task: "design the schema" }, 2, "role is missing"],
    ["no task", { role: "db-engineer" }, 2, "task is missing"],
    [
      "a number as text",
      { ...good, max_turns: "5" },
      2,
      'max_turns is "5"; it has to be a whole number, without quotes',
    ],
    ["a number that is not exact", { ...good, seq: 1e20 }, 2, "seq is beyond 9007199254740991"],
    ["a fraction", { ...good, max_turns: 1.5 }, 2, "max_turns is 1.5"],
    ["a text that is a number", { ...good, task: 5 }, 2, "task is 5; it has to be a text"],
    [
      "constraints as a text",
      { ...good, constraints: "abcde" },
      2,
      'constraints is "abcde"; it has to be a list',
    ],
    [
      "a constraint that is none",
      { ...good, constraints: [1] },
      2,
      "constraints[0] is 1; it has to be a text",
    ],
    [
      "a state that is a file name",
      { ...good, state: "s.json" },
      2,
      'state is "s.json"; it has to be an object',
    ],
    [
      "a foreign text by file",
      { ...good, untrusted: [{ label: "a", file: "b" }] },
      2,
      'untrusted[0] has "file"; it has to be {label, text}',
    ],
    [
      "a foreign text without text",
      { ...good, untrusted: [{ label: "a" }] },
      2,
      "untrusted[0].text is missing",
    ],
    ["an empty label", { ...good, untrusted: [{ label: "", text: "" }] }, 2, "untrusted[0].label is empty"],
    ["a list", [good], 2, "write one object with role and task"],
    ["null", null, 2, "standard input is null"],
    ["an unknown role", { ...good, role: "nobody" }, 1, 'role "nobody" is unknown'],
    ["turns over the cap", { ...good, maxTurns: 31 }, 1, "max_turns: budget.max_turns is 31; at most 30"],
  ])("refuses %s with one line of JSON", (_, args, exitCode, problem) => {
    const result = fromJson(args);
    expect([result.exitCode, result.stdout]).toEqual([exitCode, ""]);
    expect(result.stderr.trimEnd()).not.toContain("\n");
    expect(JSON.parse(result.stderr).error).toContain(problem);
  });

  it.each(["", "{", "hello", '{"role":"Plan"}{}', "\0"])("refuses the standard input %j", (stdin) => {
    const result = runBuild(["--json"], aWorld({ stdin }));
    expect([result.exitCode, result.stdout]).toEqual([2, ""]);
    expect(JSON.parse(result.stderr).error).toContain("standard input is not JSON");
  });

  it.each([
    ['{"task":"a","role":"Plan","task":"b"}', '"task" is given twice; give it once'],
    [String.raw`{"t\u0061sk":"a","role":"Plan","task":"b"}`, '"task" is given twice'],
    ['{"state":{"a":1,"a":[{"role":1}]},"role":"P:{\\"role\\":","role":"b"}', '"role" is given twice'],
  ])("refuses a member that is there twice: %s", (stdin, problem) => {
    const result = runBuild(["--json"], aWorld({ stdin }));
    expect([result.exitCode, result.stdout]).toEqual([2, ""]);
    expect(JSON.parse(result.stderr).error).toContain(problem);
  });

  it("takes names that are members of other objects, and says that a foreign text is empty", () => {
    const untrusted = [
      { label: "L0:a", text: 'x "task": y' },
      { label: "L0:b", text: " " },
    ];
    const { exitCode, stdout } = fromJson({ ...good, state: { role: "x", task: "y" }, untrusted });
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout).validation).toContain("--untrusted L0:b has no text");
    expect(JSON.parse(stdout).validation).not.toContain("L0:a has");
  });

  it("takes the state from a file beside it, once", () => {
    const argv = ["--json", "--state", "s.json"];
    const files = { "s.json": '{"current_branch":"main"}' };
    const built = runBuild(argv, aWorld({ stdin: JSON.stringify(good), files }));
    expect(JSON.parse(built.stdout).spawn_payload).toMatchObject({
      state_slice: { current_branch: "main" },
      untrusted_inputs: [{ source: "L0:state:s.json", wrapped: true }],
    });
    const twice = runBuild(argv, aWorld({ stdin: JSON.stringify({ ...good, state: {} }), files }));
    expect(twice.exitCode).toBe(2);
    expect(JSON.parse(twice.stderr).error).toContain("state is given twice");
  });

  it("takes what context --json prints, but not on trust", () => {
    const envelope =
      '<untrusted_content source="L2:a" timestamp="2026-04-27T12:00:00.000Z">\nx\n</untrusted_content>';
    const state = {
      state_slice: { context: [envelope] },
      untrusted_inputs: [{ source: "L2:a", wrapped: true }],
      other: 1,
    };
    expect(JSON.parse(fromJson({ ...good, state }).stdout).spawn_payload).toMatchObject({
      state_slice: { context: [envelope] },
      untrusted_inputs: [{ source: "L2:a", wrapped: true }],
    });
    for (const untrusted_inputs of [[{ source: "L2:b", wrapped: true }], [null], ["L2:b"]]) {
      const refused = fromJson({ ...good, state: { ...state, untrusted_inputs } });
      expect(refused.exitCode).toBe(1);
      expect(JSON.parse(refused.stderr).error).toMatch(
        /^state lists .* as untrusted, and no envelope in its state_slice names it/,
      );
    }
  });

  it.each<[string, (deep: string) => string]>([
    ["a state", (deep) => `{"a":${deep}}`],
    ["what context --json would print", (deep) => `{"state_slice":{"a":${deep}},"untrusted_inputs":[]}`],
  ])("refuses %s that is nested too deep", (_, state) => {
    const deep = "[".repeat(50_000) + "]".repeat(50_000);
    const { exitCode, stderr } = runBuild([...GOOD, "--state", "s"], aWorld({ files: { s: state(deep) } }));
    expect([exitCode, stderr]).toEqual([
      1,
      "spawn-guard build: payload is nested too deep; at most 100 levels of lists and objects\n",
    ]);
  });

  it("says under which label a text is listed that came in an envelope", () => {
    const text =
      '<untrusted_content source="L2:a" timestamp="2026-04-27T12:00:00.000Z">\nx\n</untrusted_content>';
    const answer = JSON.parse(fromJson({ ...good, untrusted: [{ label: "tool:Read:t1", text }] }).stdout);
    expect(answer.spawn_payload.untrusted_inputs).toEqual([{ source: "L2:a", wrapped: true }]);
    expect(answer.agent_input.prompt.match(/<untrusted_content /g)).toHaveLength(1);
    expect(answer.validation).toContain(
      "tool:Read:t1 stands in envelopes already and is listed as they name it: L2:a",
    );
  });

  it("refuses options beside it, and a world without standard input", () => {
    for (const argv of [["--json", "--role", "Plan"], ["--json", "--state", "-"], ["--json"]]) {
      const result = runBuild(argv, aWorld());
      expect([result.exitCode, result.stdout]).toEqual([2, ""]);
      expect(JSON.parse(result.stderr)).toHaveProperty("error");
    }
  });
});

it.each([
  ["--max-tokens", "max_input_tokens"],
  ["--max-tool-calls", "max_tool_calls"],
  ["--timeout-ms", "timeout_ms"],
])("names the schema's bounds of %s", (option, field) => {
  const schema = JSON.parse(readFileSync("plugin/schemas/spawn-payload.schema.json", "utf8"));
  const { minimum, maximum } = schema.properties.budget.properties[field];
  const { stderr } = runBuild([...GOOD, option, "x"], aWorld());
  expect(stderr).toContain(`write a whole number, ${minimum} to ${maximum}\n`);
});
