import { describe, expect, it } from "vitest";
import { type DecidedSession, decidedSessions } from "./decided-session.ts";

type Json = Record<string, unknown>;

const newSession = decidedSessions();

/** The spawn in question: call t1, agent a1, an agent of the main thread unless a row says otherwise. */
const settled =
  (status: string, task = "a1", call = "t1") =>
  (at: DecidedSession) =>
    at.event("UserPromptSubmit", {
      prompt: `<task-notification>\n<task-id>${task}</task-id>\n<tool-use-id>${call}</tool-use-id>\n<status>${status}</status>\n</task-notification>`,
    });
const returned = (response: Json) => (at: DecidedSession) =>
  at.event("PostToolUse", {
    tool_name: "Agent",
    tool_use_id: "t1",
    tool_input: {},
    tool_response: { agentId: "a1", agentType: "general-purpose", ...response },
  });
const failed = (error: string) => (at: DecidedSession) =>
  at.event("PostToolUseFailure", { tool_name: "Agent", tool_use_id: "t1", tool_input: {}, error });
const batch = (at: DecidedSession) =>
  at.event("PostToolBatch", { tool_calls: [{ tool_name: "Agent", tool_use_id: "t1", tool_input: {} }] });
const taskStop = (at: DecidedSession) =>
  at.event("PostToolUse", {
    tool_name: "TaskStop",
    tool_use_id: "t9",
    tool_input: { task_id: "a1" },
    tool_response: { message: "stopped", task_id: "a1" },
  });
const stop = (at: DecidedSession) => at.agentEvent("SubagentStop", "a1", { stop_hook_active: false });
const apiError = (at: DecidedSession) =>
  at.agentEvent("StopFailure", "a1", { last_assistant_message: "API Error: 529" });
const sessionEnd = (at: DecidedSession) => at.event("SessionEnd", { reason: "other" });
const sessionStart = (source: string) => (at: DecidedSession) => at.event("SessionStart", { source });

const TURN_NOTE = "NOTE: this agent stopped at its 4-turn limit before finishing.";

type Ending = [what: string, event: (at: DecidedSession) => Json, outcome: string];

const RAN: Ending[] = [
  ["PostToolUse completed", returned({ status: "completed", content: [] }), "completed"],
  [
    "PostToolUse with the host's note of its turn limit",
    returned({ status: "completed", content: [{ type: "text", text: TURN_NOTE }] }),
    "turn_limit",
  ],
  ["SubagentStop", stop, "completed"],
  ["StopFailure", apiError, "failed"],
  ["PostToolUseFailure of an agent that ran", failed("Agent terminated early due to an API error"), "failed"],
  ["PostToolUse of TaskStop", taskStop, "stopped"],
  ["a task notification: completed", settled("completed"), "completed"],
  ["a task notification: failed", settled("failed"), "failed"],
  ["a task notification: killed", settled("killed"), "stopped"],
  ["a task notification that names another call", settled("completed", "a1", "t77"), "completed"],
  ["SessionEnd", sessionEnd, "session_ended"],
  ["SessionStart startup", sessionStart("startup"), "session_ended"],
  ["SessionStart resume", sessionStart("resume"), "session_ended"],
];

const NEVER_RAN: Ending[] = [
  ["PostToolUseFailure alone", failed("Agent type 'x' not found"), "never_started"],
  ["PostToolBatch without a result", batch, "cancelled"],
];

const EVERY = [...RAN, ...NEVER_RAN];

describe("a running spawn", () => {
  it.each(RAN)("ends with %s, once, and frees its slot", async (_, event, outcome) => {
    const at = newSession();
    const { trace } = await at.running("t1", "a1");
    await at.running("t2", "a2");
    await at.decide(event(at));
    const record = at.spawnOfCall("t1");
    expect(record).toMatchObject({ phase: "ended", outcome, endedAt: at.now });
    expect(at.slot(trace)).toBeUndefined();
    expect(at.state.admitted).toBe(2);
  });

  it.each(RAN)("that %s ended stays so, whatever ending comes after it", async (_, event) => {
    const at = newSession();
    await at.running("t1", "a1");
    await at.decide(event(at));
    const record = at.spawnOfCall("t1");
    const { admitted, refused, spent } = at.state;
    for (const [, later] of EVERY) await at.decide(later(at));
    const { phase, outcome, detail, endedAt, children, barred } = record;
    expect(at.spawnOfCall("t1")).toMatchObject({ phase, outcome, detail, endedAt, children, barred });
    expect(at.state).toMatchObject({ admitted, refused, spent, running: {} });
  });

  it("is not taken for ended by what does not end it", async () => {
    const at = newSession();
    const { trace } = await at.running("t1", "a1");
    for (const event of [
      returned({ status: "async_launched" })(at),
      batch(at),
      settled("running")(at),
      settled("completed", "a7", "t7")(at),
      sessionStart("compact")(at),
      at.event("UserPromptSubmit", { prompt: "say <task-notification> to me" }),
      at.event("PostToolUse", {
        tool_name: "TaskStop",
        tool_use_id: "t9",
        tool_input: {},
        tool_response: { message: "no such task" },
      }),
      at.agentEvent("PostToolBatch", "a1", { tool_calls: [{ tool_name: "Agent", tool_use_id: "t3" }] }),
    ]) {
      await at.decide(event);
    }
    expect(at.slot(trace)).toBeDefined();
    expect(at.spawnOfCall("t1").phase).toBe("running");
  });
});

describe("an admitted call that never ran", () => {
  it.each(NEVER_RAN)("with %s gives everything back", async (_, event, outcome) => {
    const at = newSession();
    await at.decide(at.agentCall("t1"));
    expect(at.state).toMatchObject({ admitted: 1 });
    await at.decide(event(at));
    expect(at.spawnOfCall("t1")).toMatchObject({ phase: "ended", outcome, agent: null });
    expect(at.state).toMatchObject({ admitted: 0, running: {} });
  });

  it.each(NEVER_RAN)("with %s gives it back once, and never below zero", async (_, event) => {
    const at = newSession();
    await at.decide(at.agentCall("t1"));
    for (let again = 0; again < 3; again++) {
      await at.decide(event(at));
      for (const [, later] of EVERY) await at.decide(later(at));
    }
    expect(at.state).toMatchObject({ admitted: 0, running: {} });
  });

  it("is taken off its parent's children", async () => {
    const at = newSession({ max_children_per_spawn: 2 });
    const by = { agent_id: "a1", agent_type: "general-purpose" };
    const { trace } = await at.running("t1", "a1");
    await at.running("t2", "a2", by);
    expect((await at.decide(at.agentCall("t3", by))).deny).toBeUndefined();
    expect((await at.decide(at.agentCall("t4", by))).deny).toContain("made 2 spawns; the limit is 2");
    await at.decide(at.agentEvent("PostToolBatch", "a1", { tool_calls: [] }));
    expect(at.slot(trace)?.children).toBe(1);
    expect((await at.decide(at.agentCall("t5", by))).deny).toBeUndefined();
  });

  it("of one caller is not cancelled by the batch of another", async () => {
    const at = newSession();
    await at.running("t1", "a1");
    const by = { agent_id: "a1", agent_type: "general-purpose" };
    await at.decide(at.agentCall("t2", by));
    await at.decide(at.agentCall("t3"));
    await at.decide(at.agentEvent("PostToolBatch", "a1", { tool_calls: [] }));
    expect([at.spawnOfCall("t2").outcome, at.spawnOfCall("t3").outcome]).toEqual(["cancelled", null]);
  });
});

describe("a spawn that ends while its children run", () => {
  it("frees its own slot only, and they are marked as orphans", async () => {
    const at = newSession();
    const { trace } = await at.running("t1", "a1");
    const child = await at.running("t2", "a2", { agent_id: "a1", agent_type: "general-purpose" });
    await at.decide(taskStop(at));
    expect(Object.keys(at.state.running)).toEqual([child.trace]);
    expect(at.spawnOfCall("t2")).toMatchObject({ parent: trace, phase: "running", orphanedAt: at.now });
    expect((await at.decide(at.toolCall("a2"))).deny).toBeUndefined();
  });

  it("leaves children whose calls are all denied when orphans is deny", async () => {
    const at = newSession({ orphans: "deny" });
    const { trace } = await at.running("t1", "a1");
    await at.running("t2", "a2", { agent_id: "a1", agent_type: "general-purpose" });
    expect((await at.decide(at.toolCall("a2"))).deny).toBeUndefined();
    await at.decide(taskStop(at));
    expect((await at.decide(at.toolCall("a2"))).deny).toContain(`Your parent ${trace} has ended`);
  });
});

describe("a spawn that is resumed", () => {
  const start = (at: DecidedSession) => at.agentEvent("SubagentStart", "a1");

  it.each([
    ["SubagentStart", start],
    ["a tool call", (at: DecidedSession) => at.toolCall("a1")],
  ])("by %s takes a slot again and is no new spawn", async (_, event) => {
    const at = newSession();
    const before = await at.running("t1", "a1");
    await at.decide(stop(at));
    await at.decide(event(at));
    const { trace, admittedAt, payload, depth } = before;
    expect(at.spawnOfCall("t1")).toMatchObject({
      trace,
      admittedAt,
      payload,
      depth,
      phase: "running",
      outcome: null,
      endedAt: null,
      seenAt: at.now,
    });
    expect(at.state).toMatchObject({ admitted: 1 });
    expect(at.slot(before.trace)).toMatchObject({ agent: "a1", children: 0 });
    await at.decide(stop(at));
    expect(at.spawnOfCall("t1")).toMatchObject({ outcome: "completed", endedAt: at.now });
    expect(at.state).toMatchObject({ admitted: 1, running: {} });
  });

  it("keeps the count of its children", async () => {
    const at = newSession({ max_children_per_spawn: 2 });
    const by = { agent_id: "a1", agent_type: "general-purpose" };
    await at.running("t1", "a1");
    await at.running("t2", "a2", by);
    await at.running("t3", "a3", by);
    await at.decide(stop(at));
    await at.decide(start(at));
    expect((await at.decide(at.agentCall("t4", by))).deny).toContain("made 2 spawns; the limit is 2");
  });

  it("has its calls denied while no slot is free, and goes on when one is", async () => {
    const at = newSession({ max_concurrent_spawns: 1 });
    await at.running("t1", "a1");
    await at.decide(stop(at));
    await at.running("t2", "a2");
    await at.decide(start(at));
    expect((await at.decide(at.toolCall("a1"))).deny).toContain("No slot is free");
    await at.decide(at.agentEvent("SubagentStop", "a2"));
    expect((await at.decide(at.toolCall("a1"))).deny).toBeUndefined();
    expect(Object.values(at.state.running).map(({ agent }) => agent)).toEqual(["a1"]);
  });

  it("after it was taken for cancelled counts again, for its parent too", async () => {
    const at = newSession();
    const by = { agent_id: "a1", agent_type: "general-purpose" };
    const parent = await at.running("t1", "a1");
    await at.decide(at.agentCall("t2", by));
    await at.decide(at.agentEvent("PostToolBatch", "a1", { tool_calls: [] }));
    expect(at.state.admitted).toBe(1);
    expect(at.slot(parent.trace)?.children).toBe(0);
    at.sidecar("a2", { agentType: "general-purpose", toolUseId: "t2", parentAgentId: "a1", spawnDepth: 2 });
    expect((await at.decide(at.toolCall("a2"))).deny).toBeUndefined();
    expect(at.state.admitted).toBe(2);
    expect(at.slot(parent.trace)?.children).toBe(1);
    expect(at.spawnOfCall("t2")).toMatchObject({ agent: "a2", phase: "running", depth: 2 });
  });
});

describe("a slot that nobody frees", () => {
  const HOUR = 3_600_000;

  it("is taken back after its spawn's timeout, when a limit would refuse a spawn", async () => {
    const at = newSession({ max_concurrent_spawns: 1 });
    const { payload } = await at.running("t1", "a1");
    at.now += payload.budget.timeout_ms - 10;
    expect((await at.decide(at.agentCall("t2"))).deny).toContain("1 spawns are running");
    at.now += 10;
    expect((await at.decide(at.agentCall("t3"))).deny).toBeUndefined();
    expect(at.spawnOfCall("t1")).toMatchObject({ outcome: "timed_out", endedAt: at.now });
    expect(Object.values(at.state.running).map(({ call }) => call)).toEqual(["t3"]);
    expect(at.state.admitted).toBe(2);
  });

  it("stays with a spawn that shows signs of life", async () => {
    const at = newSession({ max_concurrent_spawns: 1 });
    await at.running("t1", "a1");
    for (let times = 0; times < 5; times++) {
      at.now += HOUR / 4;
      await at.decide(at.toolCall("a1", { tool_use_id: `r${times}` }));
    }
    expect((await at.decide(at.agentCall("t2"))).deny).toContain("1 spawns are running");
  });

  it("of a spawn that ended, its hook killed before it freed the slot, is taken back at once", async () => {
    const at = newSession({ max_concurrent_spawns: 1 });
    const { trace } = await at.running("t1", "a1");
    at.open().updateRecord(trace, (record) =>
      record === null ? null : { ...record, phase: "ended", outcome: "completed", endedAt: at.now },
    );
    expect((await at.decide(at.agentCall("t2"))).deny).toBeUndefined();
    expect(at.spawnOfCall("t1")).toMatchObject({ outcome: "completed" });
    expect(at.state).toMatchObject({ admitted: 2 });
  });
});

describe("a return contract", () => {
  it.each([
    ["failed", [1, 2]],
    ["partial", []],
    ["needs_clarification", []],
    ["ok", []],
  ])("that says %s counts as a failure of its role and goal: %j", async (status, times) => {
    const at = newSession();
    const counted: number[] = [];
    for (const agent of ["a1", "a2"]) {
      const { trace } = await at.running(`t-${agent}`, agent);
      const contract = { trace_id: trace, status, result: { summary: "what came of it" } };
      const last_assistant_message = JSON.stringify(contract);
      for (let twice = 0; twice < 2; twice++)
        await at.decide(at.agentEvent("SubagentStop", agent, { last_assistant_message }));
      counted.push(...at.state.failures.map((failure) => failure.times));
    }
    expect(counted).toEqual(times);
  });
});
