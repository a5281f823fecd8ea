import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { tokensUsed } from "../../src/ledger/meter.ts";
import { agentCall, type GuardedRun, guardedRun, removeRuns } from "./guarded-run.ts";
import { installClaude } from "./harness/claude-program.ts";
import {
  type Ask,
  type Reply,
  type Scenario,
  script,
  type ToolCall,
  type Usage,
} from "./harness/scripted-model.ts";

beforeAll(installClaude, 300_000);
afterAll(removeRuns);

const bash = (command = "true"): ToolCall => ({ name: "Bash", input: { command, description: "work" } });
const invalid = (): ToolCall => ({ name: "Read", input: { file: "no such member" } });

type Limits = Partial<{
  max_input_tokens: number;
  max_tool_calls: number;
  max_turns: number;
  timeout_ms: number;
}>;

/** An Agent call with a caller's payload. */
function spawn(
  name: string,
  limits: Limits,
  tools = ["*"],
  trace = "wf-20261130-abc123-spawn-001",
): ToolCall {
  const budget = {
    max_input_tokens: 200000,
    max_output_tokens: 500,
    max_tool_calls: 100,
    max_turns: 50,
    timeout_ms: 600000,
    ...limits,
  };
  const payload = {
    trace_id: trace,
    subagent_role: "general-purpose",
    goal: "work until told to stop",
    constraints: [],
    allowed_tools: tools,
    budget,
  };
  return agentCall(
    "general-purpose",
    `${name}\n<spawn_payload>\n${JSON.stringify(payload)}\n</spawn_payload>`,
  );
}

const contract = (status: string, trace = "wf-20261130-abc123-spawn-001") =>
  `my whole report\n<return_contract>\n${JSON.stringify({ trace_id: trace, status, result: { summary: "what I have so far" } })}\n</return_contract>`;

/** What the subagent was told at each of its turns: notes, results and denials. */
const heard = (run: GuardedRun) =>
  run.asks
    .filter(({ agentId }) => agentId !== null)
    .map(
      ({ lastText, lastToolResults }) => `${lastText}\n${lastToolResults.map(({ text }) => text).join("\n")}`,
    );

/** A subagent that never stops calling tools, `calls` in each response. */
const relentless = (main: ToolCall, calls: (ask: Ask) => ToolCall[]): Scenario =>
  script({
    WORK: Array.from(
      { length: 60 },
      () =>
        (ask: Ask): Reply => ({ calls: calls(ask) }),
    ),
    MAIN: [{ calls: [main] }],
  });

describe("an agent that never stops calling tools", () => {
  it.each([
    ["one call a response", 1, () => [bash()]],
    ["five calls a response", 5, () => [bash(), bash(), bash(), bash(), bash()]],
    ["calls that fail validation", 1, () => [invalid()]],
  ] as const)(
    "(%s) is told at 80 %%, denied at its limit and ended when it goes on",
    async (_, each, calls) => {
      const run = await guardedRun({
        prompt: "MAIN",
        model: relentless(spawn("WORK", { max_tool_calls: 10 }), () => [...calls()]),
      });
      const [ended] = run.spawns;
      expect(ended).toMatchObject({ outcome: "budget_exhausted", detail: "tool calls 10/10" });
      const texts = heard(run);
      expect(texts.findIndex((text) => text.includes("budget is nearly used up (tool calls"))).toBe(
        each === 5 ? 2 : 8,
      );
      // Ten calls went through, two responses were denied, and the third was its last.
      // A call that fails validation is not asked about: only its batch can end the agent.
      expect(ended?.meter.turns).toBe(10 / each + (calls()[0]?.name === "Read" ? 3 : 2));
      expect(run.asks.filter(({ agentId }) => agentId !== null)).toHaveLength(10 / each + 3);
      expect(run.session.running).toEqual({});
    },
  );

  it("and whose payload the guard attached is told at its budget and bound at three times it", async () => {
    const run = await guardedRun({
      prompt: "MAIN",
      model: relentless(agentCall("spawn-guard:eval-judge", "WORK"), () =>
        Array.from({ length: 20 }, () => ({ name: "Glob", input: { pattern: "*" } })),
      ),
    });
    // eval-judge: 30 tool calls, the host's maxTurns 5.
    expect(run.spawns[0]).toMatchObject({
      outcome: "budget_exhausted",
      detail: expect.stringMatching(/^turns 3\/3$/),
    });
  });
});

it("an agent that heeds the denial returns its contract, and its parent receives it whole", async () => {
  const run = await guardedRun({
    prompt: "MAIN",
    model: script({
      WORK: Array.from(
        { length: 9 },
        () =>
          (ask: Ask): Reply =>
            ask.lastToolResults.some(({ text }) => text.includes("return your contract now"))
              ? { text: contract("partial") }
              : { calls: [bash()] },
      ),
      MAIN: [
        { calls: [spawn("WORK", { max_tool_calls: 5 })] },
        (ask) => ({ text: ask.lastText + ask.lastToolResults[0]?.text }),
      ],
    }),
  });
  expect(run.spawns[0]).toMatchObject({
    outcome: "budget_exhausted",
    contract: { state: "valid", status: "partial" },
  });
  expect(run.result).toContain("my whole report");
  expect(run.result).toContain('"what I have so far"');
  expect(run.result).toMatch(
    /ran out of its budget.*tool calls 5\/5.*contract partial.*6 tool calls, 6 turns/,
  );
});

it("an agent with max_turns 5 has its tools closed two turns before, and reports in the last", async () => {
  const run = await guardedRun({
    prompt: "MAIN",
    model: script({
      WORK: Array.from(
        { length: 9 },
        () =>
          (ask: Ask): Reply =>
            ask.lastToolResults.some(({ text }) => text.includes("turns 3/3"))
              ? { text: contract("partial") }
              : { calls: [bash()] },
      ),
      MAIN: [{ calls: [spawn("WORK", { max_turns: 5 })] }],
    }),
  });
  expect(run.spawns[0]).toMatchObject({
    outcome: "budget_exhausted",
    detail: "turns 3/3",
    meter: { turns: 4 },
  });
});

it("an agent whose transcript grows past max_input_tokens is denied its next call", async () => {
  const usage = (input: number): Usage => ({
    input_tokens: 10,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: input,
    output_tokens: 10,
  });
  const run = await guardedRun({
    prompt: "MAIN",
    model: script({
      WORK: [
        { calls: [bash()], usage: usage(20_000) },
        { calls: [bash()], usage: usage(21_000) },
        { calls: [bash()], usage: usage(26_000) },
        { calls: [bash("touch PAST")], usage: usage(26_050) },
        (ask) => ({ text: ask.lastToolResults[0]?.text ?? "", usage: usage(26_100) }),
      ],
      MAIN: [{ calls: [spawn("WORK", { max_input_tokens: 4000 })] }],
    }),
  });
  expect(run.spawns[0]).toMatchObject({
    outcome: "budget_exhausted",
    detail: expect.stringMatching(/^input tokens \d+\/4000$/),
  });
  expect(run.projectFiles()).not.toContain("PAST");
});

it("what was metered after the end is what the model served, exactly", async () => {
  const growth = [0, 1500, 700, 2500];
  const served = growth.map(
    (_, index): Usage => ({
      input_tokens: 5,
      cache_creation_input_tokens: index === 0 ? 9000 : (growth[index] ?? 0),
      cache_read_input_tokens:
        index === 0 ? 0 : 9000 + growth.slice(1, index).reduce((sum, tokens) => sum + tokens, 0),
      output_tokens: 40 + index,
    }),
  );
  const run = await guardedRun({
    prompt: "MAIN",
    model: script({
      WORK: [
        ...served.slice(0, 3).map((usage) => ({ calls: [bash(), bash()], usage })),
        { text: contract("ok"), usage: served[3] ?? {} },
      ],
      MAIN: [{ calls: [spawn("WORK", {})] }],
    }),
  });
  const [ended] = run.spawns;
  if (ended === undefined) throw new Error("no spawn");
  const contexts = served.map(
    (usage) => usage.input_tokens + usage.cache_creation_input_tokens + usage.cache_read_input_tokens,
  );
  const steps = contexts
    .slice(1)
    .map((context, index) =>
      Math.max(0, context - (contexts[index] ?? 0) - (served[index]?.output_tokens ?? 0)),
    );
  const prompt = ended.meter.transcript.meter.promptTokens;
  expect(tokensUsed(ended.meter, true)).toMatchObject({
    input: prompt + steps.reduce((sum, step) => sum + step, 0),
    output: 40 + 41 + 42 + 43,
  });
  expect(ended).toMatchObject({
    outcome: "completed",
    meter: { toolCalls: 6, turns: 3 },
    contract: { state: "valid", status: "ok" },
  });
  expect(run.session.spent).toBe(tokensUsed(ended.meter, true).session);
});

it("a tool outside allowed_tools is denied, whatever the prompt says, and the agent goes on", async () => {
  const run = await guardedRun({
    prompt: "MAIN",
    model: script({
      WORK: [
        { calls: [bash("touch HERE"), { name: "Read", input: { file_path: "/etc/hostname" } }] },
        { calls: [bash("git log; touch HERE")] },
        (ask) => ({ text: ask.lastToolResults.map(({ text }) => text).join(" ") }),
      ],
      MAIN: [{ calls: [spawn("WORK", {}, ["Bash(git log:*)", "Read(/etc/**)"])] }],
    }),
  });
  expect(run.projectFiles()).not.toContain("HERE");
  expect(
    heard(run)
      .join("\n")
      .match(/Not allowed: /g)?.length,
  ).toBeGreaterThanOrEqual(2);
  expect(run.spawns[0]).toMatchObject({ outcome: "completed" });
});

it("a child gets no more than its parent has left, and no tool that its parent lacks", async () => {
  const run = await guardedRun({
    prompt: "MAIN",
    model: script({
      INNER: [{ text: "inner done" }],
      OUTER: [
        { calls: [agentCall("general-purpose", "INNER")] },
        { calls: [agentCall("spawn-guard:db-engineer", "INNER too")] },
      ],
      MAIN: [
        { calls: [spawn("OUTER", { max_input_tokens: 10_000, timeout_ms: 120_000 }, ["Read", "Agent"])] },
      ],
    }),
  });
  const [, inner, too] = run.spawns;
  expect(inner?.payload.budget.max_input_tokens).toBeLessThanOrEqual(10_000);
  expect(inner?.payload.budget.timeout_ms).toBeLessThanOrEqual(120_000);
  expect(inner?.payload.allowed_tools).toEqual(["Read", "Agent"]);
  expect(too?.payload.allowed_tools).toEqual(["Read"]);
});

it("the session's hard cap refuses the next spawn and says the sum", async () => {
  const run = await guardedRun({
    prompt: "MAIN",
    options: { session_token_hard_cap: 5000 },
    model: script({
      MAIN: [
        { calls: [spawn("WORK", { max_input_tokens: 20_000 })] },
        (ask) => ({ text: ask.lastToolResults[0]?.text ?? "" }),
      ],
    }),
  });
  expect(run.result).toContain(
    "have used 0 tokens and hold 0 in reserve; with 20500 for this one that is 20500, over the cap of 5000",
  );
});

describe("contract_mode ask", () => {
  it("asks once for a missing contract, and the parent receives the whole report", async () => {
    const run = await guardedRun({
      prompt: "MAIN",
      options: { contract_mode: "ask" },
      model: script({
        WORK: [
          { text: "my whole report, without a contract" },
          (ask) => ({
            text: ask.lastText.includes("Repeat your full report") ? contract("ok") : "not asked",
          }),
        ],
        MAIN: [{ calls: [spawn("WORK", {})] }, (ask) => ({ text: ask.lastToolResults[0]?.text ?? "" })],
      }),
    });
    expect(run.spawns[0]).toMatchObject({
      outcome: "completed",
      contract: { state: "valid", status: "ok", asked: true },
    });
    expect(run.result).toContain("my whole report");
  });

  it("does not ask twice", async () => {
    const run = await guardedRun({
      prompt: "MAIN",
      options: { contract_mode: "ask" },
      model: script({
        WORK: [{ text: "no contract" }, { text: "still none" }],
        MAIN: [{ calls: [spawn("WORK", {})] }],
      }),
    });
    expect(run.spawns[0]).toMatchObject({
      outcome: "completed",
      contract: { state: "missing", asked: true },
    });
    expect(run.asks.filter(({ agentId }) => agentId !== null)).toHaveLength(2);
  });
});

it("an API error is told apart from a budget, with the failures counted against retry_budget", async () => {
  const run = await guardedRun({
    prompt: "MAIN",
    model: script({
      WORK: [{ error: { status: 400, type: "invalid_request_error", message: "no" } }],
      MAIN: [{ calls: [spawn("WORK", {})] }, (ask) => ({ text: ask.lastText })],
    }),
  });
  expect(run.spawns[0]).toMatchObject({ outcome: "failed" });
  expect(run.result).toMatch(/failed \(.*\); .*1 failed so far for this role and goal, 1 of 1 retries left/);
});

it("an agent whose time has passed is denied its next call, and its report comes back", async () => {
  const run = await guardedRun({
    prompt: "MAIN",
    timeoutMs: 100_000,
    model: script({
      WORK: [
        { calls: [bash('node -e "setTimeout(() => {}, 31000)"')] },
        { calls: [bash()] },
        { text: contract("partial") },
      ],
      MAIN: [
        { calls: [spawn("WORK", { timeout_ms: 30_000 })] },
        (ask) => ({ text: ask.lastToolResults[0]?.text ?? "" }),
      ],
    }),
  });
  expect(run.spawns[0]).toMatchObject({
    outcome: "budget_exhausted",
    detail: expect.stringMatching(/^time 3\d\/30 s$/),
    contract: { state: "valid", status: "partial" },
  });
  expect(run.result).toContain("my whole report");
});
