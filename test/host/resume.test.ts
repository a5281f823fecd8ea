import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agentCall, type GuardedRun, guardedRun, removeRuns } from "./guarded-run.ts";
import { installClaude } from "./harness/claude-program.ts";
import { type Scenario, script, type ToolCall } from "./harness/scripted-model.ts";
import { temporaryFolder } from "./harness/temporary-folder.ts";
import { agentOf, bash, callId, loadTools, named, promptWithPayload, spawnOf } from "./model-calls.ts";
import { readLedger } from "./read-ledger.ts";

beforeAll(installClaude, 300_000);
afterAll(removeRuns);

const message = (to: string, id: string): ToolCall => ({
  name: "SendMessage",
  input: { to, summary: "again please", message: "AGAIN please" },
  id: callId(id),
});

describe("a message to an agent that has ended", () => {
  const home = temporaryFolder("home");
  const sessionId = "0b0b0b0b-1111-4222-8333-444444444444";
  let run: GuardedRun;
  let whileResumed: ReturnType<typeof readLedger>;
  let whileWaiting: ReturnType<typeof readLedger>;
  const ledger = () => readLedger(join(home, ".claude/plugins/data/spawn-guard-inline"), sessionId);

  beforeAll(async () => {
    const wake: Scenario = (ask) => {
      whileWaiting = ledger();
      return {
        calls: [message(agentOf(ask, "SLEEPER"), "WAKE"), message(agentOf(ask, "SPENT"), "WAKE-SPENT")],
      };
    };
    run = await guardedRun({
      prompt: "MAIN go",
      home,
      sessionId,
      model: script({
        "SLEEPER go": [
          { calls: [bash(), bash()] },
          { text: "SLEEPER done" },
          () => {
            whileResumed = ledger();
            return { calls: [bash("sleep 1")] };
          },
        ],
        "SPENT go": [{ calls: [bash(), bash()] }, { text: "SPENT done" }],
        MAIN: [
          {
            calls: [
              loadTools,
              named("SLEEPER"),
              named("SPENT", "general-purpose", {
                prompt: promptWithPayload("SPENT", { budget: { max_tool_calls: 2 } }),
              }),
            ],
          },
          wake,
        ],
      }),
    });
  }, 60_000);

  it("wakes it as the same spawn, in a slot of its own, and its counters go on", () => {
    const trace = spawnOf(run, "SLEEPER")?.trace ?? "none";
    expect(Object.keys(whileWaiting.session.running)).toEqual([]);
    expect(Object.keys(whileResumed.session.running)).toEqual([trace]);
    expect(spawnOf(whileResumed, "SLEEPER")).toMatchObject({ phase: "running", outcome: null });
    expect(spawnOf(run, "SLEEPER")).toMatchObject({
      phase: "ended",
      outcome: "completed",
      meter: { toolCalls: 3, turns: 2 },
    });
    expect(spawnOf(run, "SLEEPER")?.meter.ranMs).toBeGreaterThan(
      (spawnOf(whileWaiting, "SLEEPER")?.meter.ranMs ?? 0) + 1000,
    );
    expect(run.spawns).toHaveLength(2);
    expect(run.session).toMatchObject({ admitted: 2, running: {} });
  });

  it("is refused where its budget is used up", () => {
    const answers = run.asks.flatMap(({ lastToolResults }) => lastToolResults);
    const answer = answers.find(({ toolUseId }) => toolUseId === callId("WAKE-SPENT"))?.text;
    expect(answer).toContain("may not go on (tool calls 2/2), so a message to it is refused");
    expect(spawnOf(run, "SPENT")).toMatchObject({ outcome: "completed", meter: { toolCalls: 2 } });
  });
});

it("a resumed session goes on with its ledger, and with the agents of before", async () => {
  const options = { max_spawns_per_session: 2 };
  const before = await guardedRun({
    prompt: "MAIN go",
    options,
    model: script({ "FIRST go": [{ calls: [bash()] }], MAIN: [{ calls: [named("FIRST")] }] }),
  });
  const after = await guardedRun({
    prompt: "MAIN again",
    options,
    home: before.home,
    resume: before.sessionId,
    model: script({
      "FIRST go": [{}, {}, { calls: [bash()] }],
      MAIN: [
        {},
        {},
        { calls: [loadTools, named("SECOND")] },
        { calls: [named("THIRD")] },
        (ask) => ({ calls: [message(agentOf(ask, "FIRST"), "WAKE")] }),
      ],
    }),
  });
  expect(after.sessionId).toBe(before.sessionId);
  expect(before.session).toMatchObject({ admitted: 1, running: {} });
  expect(after.session).toMatchObject({ run: before.session.run, admitted: 2, refused: 1, running: {} });
  expect(spawnOf(after, "SECOND")?.trace).toMatch(/-002$/);
  expect(spawnOf(before, "FIRST")).toMatchObject({ outcome: "completed", meter: { toolCalls: 1 } });
  expect(spawnOf(after, "FIRST")).toMatchObject({ outcome: "completed", meter: { toolCalls: 2 } });
  expect(after.session.refusals).toMatchObject([{ code: "spawns_exhausted", calls: [callId("THIRD")] }]);
});

it("a message to a spawn by the name that its caller gave it is held to that spawn's budget too", async () => {
  const budget = {
    max_input_tokens: 20000,
    max_output_tokens: 500,
    max_tool_calls: 2,
    max_turns: 20,
    timeout_ms: 600000,
  };
  const payload = {
    trace_id: "wf-20261130-abc123-spawn-042",
    subagent_role: "general-purpose",
    goal: "use what there is of the budget",
    constraints: [],
    allowed_tools: ["*"],
    budget,
  };
  const prompt = `NAMED\n<spawn_payload>\n${JSON.stringify(payload)}\n</spawn_payload>`;
  const run = await guardedRun({
    prompt: "MAIN",
    model: script({
      NAMED: [{ calls: [bash("true"), bash("true")] }, { text: "done" }],
      MAIN: [
        { calls: [agentCall("general-purpose", prompt, { name: "bob" })] },
        { calls: [{ name: "ToolSearch", input: { query: "select:SendMessage", max_results: 3 } }] },
        {
          calls: [
            { name: "SendMessage", input: { to: "bob", summary: "go on please", message: "go on please" } },
          ],
        },
        (ask) => ({ text: ask.lastToolResults[0]?.text ?? "" }),
      ],
    }),
  });
  expect(run.result).toContain("may not go on (tool calls 2/2)");
  expect(run.spawns).toMatchObject([{ name: "bob", outcome: "completed" }]);
});
