import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sessionTokens } from "../../../src/guard/session-tokens.ts";
import { type DecidedSession, decidedSessions } from "./decided-session.ts";

type Json = Record<string, unknown>;

const newSession = decidedSessions();
const GENERAL = "general-purpose";
const by = (agent: string) => ({ agent_id: agent, agent_type: GENERAL });

/** a1 below the main thread, a2 below it; c3 is a2's admitted call, whose agent is not known yet. */
async function chain(at: DecidedSession): Promise<void> {
  await at.running("c1", "a1");
  await at.running("c2", "a2", by("a1"));
  await at.decide(at.agentCall("c3", by("a2")));
}

describe("an agent is bound to its spawn", () => {
  it("by the call that its sidecar names, and its depth is the spawn's", async () => {
    const at = newSession();
    await chain(at);
    at.sidecar("a3", { agentType: GENERAL, toolUseId: "c3", parentAgentId: "a2", spawnDepth: 3 });
    expect(await at.decide(at.toolCall("a3"))).toEqual({});
    expect(at.spawnOfCall("c3")).toMatchObject({ agent: "a3", depth: 3, phase: "running", doubt: null });
    expect(at.state.admitted).toBe(3);
  });

  it("whatever order starts and results come in", async () => {
    const at = newSession();
    for (const call of ["c1", "c2"]) await at.decide(at.agentCall(call));
    for (const agent of ["a2", "a1"]) await at.decide(at.agentEvent("SubagentStart", agent));
    await at.decide(at.launched("c2", "a2"));
    await at.decide(at.launched("c1", "a1"));
    await at.decide(at.agentCall("c3", by("a1")));
    await at.decide(at.launched("c3", "a9", by("a1")));
    await at.decide(at.agentEvent("SubagentStart", "a9"));
    expect(at.spawnOfCall("c1").agent).toBe("a1");
    expect(at.spawnOfCall("c2").agent).toBe("a2");
    expect(at.spawnOfCall("c3")).toMatchObject({
      agent: "a9",
      depth: 2,
      parent: at.spawnOfCall("c1").trace,
    });
    expect(at.state.admitted).toBe(3);
  });

  it("without a SubagentStart", async () => {
    const at = newSession();
    await at.running("c1", "a1");
    expect(await at.decide(at.toolCall("a1"))).toEqual({});
    await at.decide(at.agentEvent("SubagentStop", "a1"));
    expect(at.spawnOfCall("c1")).toMatchObject({ outcome: "completed", depth: 1 });
    expect(at.state).toMatchObject({ admitted: 1, running: {} });
  });

  it("once: a second agent that names the same call gets a spawn of its own, with its lineage in doubt", async () => {
    const at = newSession();
    await at.running("c1", "a1");
    at.sidecar("a2", { agentType: GENERAL, toolUseId: "c1", spawnDepth: 1 });
    expect(await at.decide(at.toolCall("a2"))).toEqual({});
    expect(at.spawnOfCall("c1").agent).toBe("a1");
    expect(at.spawnOfAgent("a2")).toMatchObject({
      origin: "adopted",
      depth: 1,
      doubt: "call c1 already belongs to agent a1",
    });
    expect(at.state.admitted).toBe(2);
    expect((await at.decide(at.agentCall("c2", by("a2")))).deny).toContain("not certain");
  });

  it("once: an agent that is bound stays so when another call names it", async () => {
    const at = newSession();
    await at.running("c1", "a1");
    await at.decide(at.agentCall("c2"));
    await at.decide(at.launched("c2", "a1"));
    expect(at.spawnOfCall("c1").agent).toBe("a1");
    expect(at.spawnOfCall("c2").agent).toBeNull();
  });
});

describe("a sidecar that tells another story than the ledger", () => {
  const DEPTHS: unknown[] = [-50, 0, 1.5, "3", null, [], {}, true, 2, 4, 1e21];
  const SIDECARS: [string, string][] = [
    ...DEPTHS.map((spawnDepth): [string, string] => [
      `depth ${JSON.stringify(spawnDepth)}`,
      JSON.stringify({ agentType: GENERAL, toolUseId: "c3", parentAgentId: "a2", spawnDepth }),
    ]),
    ["depth 1e999", `{"agentType":"${GENERAL}","toolUseId":"c3","parentAgentId":"a2","spawnDepth":1e999}`],
    ["depth -1e999", `{"agentType":"${GENERAL}","toolUseId":"c3","parentAgentId":"a2","spawnDepth":-1e999}`],
    ["no depth", JSON.stringify({ agentType: GENERAL, toolUseId: "c3", parentAgentId: "a2" })],
    [
      "another parent",
      JSON.stringify({ agentType: GENERAL, toolUseId: "c3", parentAgentId: "a1", spawnDepth: 3 }),
    ],
    [
      "a parent that nobody knows",
      JSON.stringify({ agentType: GENERAL, toolUseId: "c3", parentAgentId: "zz", spawnDepth: 3 }),
    ],
  ];

  it.each(SIDECARS)("(%s) puts the lineage in doubt, and never moves the spawn", async (_, sidecar) => {
    const at = newSession({ subagent_max_depth: 9 });
    await chain(at);
    at.sidecar("a3", sidecar);
    expect((await at.decide(at.agentCall("c4", by("a3")))).deny).toContain("not certain");
    expect(at.spawnOfCall("c3")).toMatchObject({ agent: "a3", depth: 3, parent: at.spawnOfCall("c2").trace });
    expect(at.spawnOfCall("c3").doubt).toMatch(/^its sidecar/);
    // Its own work goes on.
    expect(await at.decide(at.toolCall("a3"))).toEqual({});
  });

  it.each([
    ["no call", { agentType: GENERAL, spawnDepth: -50 }],
    ["a path for a call", { agentType: GENERAL, toolUseId: "../../c1", spawnDepth: 1 }],
    ["a call that nobody made", { agentType: GENERAL, toolUseId: "c77", spawnDepth: 1 }],
    ["a path for a parent", { agentType: GENERAL, parentAgentId: "../a1", spawnDepth: -1 }],
    ["a parent that does not fit the depth", { agentType: GENERAL, parentAgentId: "a2", spawnDepth: 1 }],
    ["a parent that nobody knows", { agentType: GENERAL, parentAgentId: "zz", spawnDepth: 1 }],
    ["nothing", {}],
    ["a list", "[]"],
    ["no JSON", "{"],
    ["nothing at all", ""],
  ])("(%s) leaves an agent at the deepest place it can have come from", async (_, sidecar) => {
    const at = newSession();
    await chain(at);
    at.sidecar("a3", sidecar);
    await at.decide(at.toolCall("a3"));
    expect(at.spawnOfAgent("a3")).toMatchObject({
      origin: "adopted",
      depth: 3,
      parent: at.spawnOfCall("c2").trace,
    });
  });

  it("names a shallower place than any agent was asked for: the lineage is in doubt", async () => {
    const at = newSession();
    await chain(at);
    at.sidecar("a3", { agentType: GENERAL, spawnDepth: 1 });
    await at.decide(at.toolCall("a3"));
    expect(at.spawnOfAgent("a3")).toMatchObject({ depth: 3 });
    expect(at.spawnOfAgent("a3").doubt).toContain("which started no agent");
    expect((await at.decide(at.agentCall("c4", by("a3")))).deny).toContain("not certain");
  });

  it("is a folder, a link to nowhere or outside its place: it counts as none", async () => {
    const at = newSession();
    await chain(at);
    at.sidecar("a3", "{}", join(at.subagents, "agent-a4.meta.json"));
    for (const agent of ["a4", "../a5", "a/5"]) {
      expect(await at.decide(at.toolCall(agent))).toEqual({});
      expect(at.spawnOfAgent(agent).origin).toBe("adopted");
    }
  });
});

describe("an agent of another type than the one admitted", () => {
  it.each([
    ["from its result", false],
    ["from its sidecar", true],
  ])("is found out %s, and all its calls are denied", async (_, bySidecar) => {
    const at = newSession();
    await at.decide(at.agentCall("c1", {}, { subagent_type: "spawn-guard:eval-judge" }));
    if (bySidecar) at.sidecar("a1", { agentType: "other:thing", toolUseId: "c1", spawnDepth: 1 });
    else {
      await at.decide(
        at.event("PostToolUse", {
          tool_name: "Agent",
          tool_use_id: "c1",
          tool_input: {},
          tool_response: { status: "async_launched", agentId: "a1", agentType: "other:thing" },
        }),
      );
    }
    const as = { agent_type: "other:thing" };
    for (const event of [at.toolCall("a1", as), at.agentCall("c2", { agent_id: "a1", ...as })]) {
      const { deny } = await at.decide(event);
      expect(deny).toContain('"other:thing" was started in its place');
    }
    expect(at.spawnOfCall("c1")).toMatchObject({ ranAs: "other:thing" });
    expect(at.state).toMatchObject({ admitted: 1 });
  });

  it("is found out at its first call when the event alone names its type", async () => {
    const at = newSession();
    await at.decide(at.agentCall("c1", {}, { subagent_type: "Explore" }));
    await at.decide(at.launched("c1", "a1"));
    const { deny } = await at.decide(at.toolCall("a1", { agent_type: "other:thing" }));
    expect(deny).toContain('"other:thing" was started in its place');
  });

  it("is the same when only case, spaces, hyphens and underscores differ", async () => {
    const at = newSession();
    await at.decide(at.agentCall("c1", {}, { subagent_type: "General Purpose" }));
    await at.decide(at.launched("c1", "a1"));
    at.sidecar("a1", { agentType: "general_purpose", toolUseId: "c1", spawnDepth: 1 });
    expect(await at.decide(at.toolCall("a1"))).toEqual({});
  });
});

describe("an agent that no call was admitted for", () => {
  it("is taken in at its first event, counts, and may work", async () => {
    const at = newSession();
    expect(await at.decide(at.toolCall("a1"))).toEqual({});
    expect(await at.decide(at.toolCall("a1", { tool_use_id: "r2" }))).toEqual({});
    expect(at.spawnOfAgent("a1")).toMatchObject({ origin: "adopted", depth: 1, parent: null });
    expect(at.state).toMatchObject({ admitted: 1 });
    expect(Object.values(at.state.running)).toMatchObject([{ agent: "a1" }]);
  });

  it("without an agent type is taken in all the same", async () => {
    const at = newSession();
    const event = at.toolCall("member-1");
    delete (event as Json).agent_type;
    expect(await at.decide(event)).toEqual({});
    expect(at.spawnOfAgent("member-1")).toMatchObject({ origin: "adopted", agentType: "unknown" });
  });

  it("is a workflow's: its parent is who started the workflow", async () => {
    const at = newSession();
    await at.running("c1", "a1");
    await at.decide(
      at.event("PreToolUse", { ...by("a1"), tool_name: "Workflow", tool_use_id: "w1", tool_input: {} }),
    );
    await at.decide(
      at.event("PostToolUse", {
        ...by("a1"),
        tool_name: "Workflow",
        tool_use_id: "w1",
        tool_input: {},
        tool_response: { status: "async_launched", runId: "wf_1" },
      }),
    );
    const folder = join(at.subagents, "workflows", "wf_1");
    at.sidecar("a2", { agentType: "workflow-subagent", spawnDepth: 1 }, folder);
    expect(await at.decide(at.toolCall("a2", { agent_type: "workflow-subagent" }))).toEqual({});
    expect(at.spawnOfAgent("a2")).toMatchObject({
      origin: "adopted",
      depth: 2,
      parent: at.spawnOfCall("c1").trace,
    });
  });

  const fork = (at: DecidedSession, agent: string) =>
    at.event("PreToolUse", {
      ...by(agent),
      tool_name: "Skill",
      tool_use_id: "s1",
      tool_input: { skill: "x:forked" },
    });

  it("is a forked skill's: it stands below its caller", async () => {
    const at = newSession();
    await at.running("c1", "a1");
    await at.decide(fork(at, "a1"));
    at.sidecar("a2", { agentType: GENERAL, parentAgentId: "a1", spawnDepth: 2 });
    expect(await at.decide(at.toolCall("a2"))).toEqual({});
    expect(at.spawnOfAgent("a2")).toMatchObject({
      depth: 2,
      parent: at.spawnOfCall("c1").trace,
      doubt: null,
    });
  });

  it("has all its calls denied when it stands beyond the depth limit, however many come at once", async () => {
    const at = newSession();
    await chain(at);
    await at.decide(at.launched("c3", "a3", by("a2")));
    await at.decide(fork(at, "a3"));
    at.sidecar("a4", { agentType: GENERAL, parentAgentId: "a3", spawnDepth: 4 });
    const calls = ["r1", "r2", "r3"].map((call) => at.toolCall("a4", { tool_use_id: call }));
    const answers = await Promise.all(calls.map((event) => at.decide(event)));
    for (const { deny } of [...answers, await at.decide(at.agentCall("c5", by("a4")))]) {
      expect(deny).toContain("deeper than subagent_max_depth allows");
    }
    expect(at.spawnOfAgent("a4")).toMatchObject({ depth: 4, barred: "depth_exceeded" });
    expect(at.state.admitted).toBe(4);
  });

  it.each([
    ["max_spawns_per_session", "spawns_exhausted"],
    ["max_concurrent_spawns", "concurrency_exceeded"],
  ])("beyond %s has its calls denied", async (limit, code) => {
    const at = newSession({ [limit]: 1 });
    await at.running("c1", "a1");
    expect((await at.decide(at.toolCall("a2"))).deny).toContain(limit);
    expect(at.spawnOfAgent("a2").barred).toBe(code);
  });

  it("keeps its bar when the hook that took it in was killed before it wrote the spawn's record", async () => {
    const at = newSession();
    await chain(at);
    await at.decide(at.launched("c3", "a3", by("a2")));
    at.sidecar("a4", { agentType: GENERAL, parentAgentId: "a3", spawnDepth: 4 });
    // What such a hook leaves: a slot, and nothing else.
    at.open().updateSession((state) => {
      const [trace, parent] = Object.entries(state.running).find(([, slot]) => slot.agent === "a3") ?? [];
      if (trace === undefined || parent === undefined) throw new Error("a3 does not run");
      const slot = {
        ...parent,
        call: null,
        agent: "a4",
        parent: trace,
        depth: 4,
        origin: "adopted" as const,
      };
      return {
        ...state,
        seq: state.seq + 1,
        admitted: state.admitted + 1,
        running: { ...state.running, "wf-20261130-killed-spawn-9": slot },
      };
    });
    expect((await at.decide(at.toolCall("a4"))).deny).toContain("deeper than subagent_max_depth allows");
    expect(at.state.admitted).toBe(4);
  });

  it("was refused and runs all the same: it is taken in, and every call of it is denied", async () => {
    const at = newSession({ max_spawns_per_session: 1 });
    await at.running("c1", "a1");
    expect((await at.decide(at.agentCall("c2"))).deny).toBeDefined();
    await at.decide(at.agentEvent("SubagentStart", "a2"));
    at.sidecar("a2", { agentType: GENERAL, toolUseId: "c2", spawnDepth: 1 });
    for (const event of [at.toolCall("a2"), at.agentCall("c3", by("a2"))]) {
      expect((await at.decide(event)).deny).toContain("The call that started you was refused");
    }
    expect(at.spawnOfAgent("a2")).toMatchObject({ call: "c2", barred: "deny_not_enforced" });
  });

  it("was refused and is seen before anything says so: its calls are denied from then on", async () => {
    const at = newSession({ max_spawns_per_session: 1 });
    await at.running("c1", "a1");
    expect((await at.decide(at.agentCall("c2"))).deny).toBeDefined();
    at.environment.CLAUDE_PLUGIN_OPTION_MAX_SPAWNS_PER_SESSION = "9";
    expect(await at.decide(at.toolCall("a2"))).toEqual({});
    await at.decide(at.launched("c2", "a2"));
    expect((await at.decide(at.toolCall("a2"))).deny).toContain("The call that started you was refused");
    expect(at.spawnOfAgent("a2")).toMatchObject({ call: "c2", barred: "deny_not_enforced" });
    expect(at.state.admitted).toBe(2);
  });

  it("is taken in once, though word of its call comes after it has ended", async () => {
    const at = newSession({ max_spawns_per_session: 1 });
    await at.running("c1", "a1");
    await at.decide(at.agentCall("c2"));
    at.sidecar("a2", { agentType: GENERAL, toolUseId: "c2", spawnDepth: 1 });
    await at.decide(at.toolCall("a2"));
    await at.decide(at.agentEvent("SubagentStop", "a2"));
    await at.decide(at.launched("c2", "a2"));
    expect(at.spawnOfAgent("a2")).toMatchObject({ phase: "ended", barred: "deny_not_enforced" });
    expect(at.state.admitted).toBe(2);
  });
});

describe("proof that comes late", () => {
  /** a1 runs; c2 is admitted for it; a2 is seen before anything says that it is c2's, and has a child already. */
  async function guessed(at: DecidedSession): Promise<void> {
    await at.running("c0", "a0");
    await at.running("c1", "a1", by("a0"));
    await at.decide(at.agentCall("c2"));
    await at.decide(at.agentCall("c3", by("a1")));
    await at.decide(at.toolCall("a2"));
    expect(at.spawnOfAgent("a2")).toMatchObject({ origin: "adopted", depth: 3 });
  }

  it("repairs the edge: the agent becomes the admitted spawn, and is counted once", async () => {
    const at = newSession();
    await guessed(at);
    expect(at.state.admitted).toBe(5);
    await at.decide(at.launched("c2", "a2"));
    expect(at.spawnOfCall("c2")).toMatchObject({ agent: "a2", depth: 1, parent: null, phase: "running" });
    expect(at.state.admitted).toBe(4);
    expect(Object.values(at.state.running).map(({ agent }) => agent)).toEqual(["a0", "a1", "a2", null]);
    expect(at.slot(at.spawnOfCall("c1").trace)?.children).toBe(1);
    expect((await at.decide(at.agentCall("c4", by("a2")))).deny).toBeUndefined();
    expect(at.spawnOfCall("c4")).toMatchObject({ depth: 2, parent: at.spawnOfCall("c2").trace });
  });

  it("moves what runs below it to the depth that follows", async () => {
    const at = newSession({ subagent_max_depth: 5 });
    await guessed(at);
    await at.running("c4", "a4", by("a2"));
    await at.running("c5", "a5", by("a4"));
    expect([at.spawnOfCall("c4").depth, at.spawnOfCall("c5").depth]).toEqual([4, 5]);
    await at.decide(at.launched("c2", "a2"));
    expect([at.spawnOfCall("c4").depth, at.spawnOfCall("c5").depth]).toEqual([2, 3]);
    expect(at.spawnOfCall("c4").parent).toBe(at.spawnOfCall("c2").trace);
    expect(at.slot(at.spawnOfCall("c2").trace)?.children).toBe(1);
    expect((await at.decide(at.agentCall("c6", by("a5")))).deny).toBeUndefined();
    expect(at.spawnOfCall("c6").depth).toBe(4);
  });

  it("takes what the agent has used along, and counts no token of it twice", async () => {
    const at = newSession();
    await guessed(at);
    const batch = (call: string) =>
      at.agentEvent("PostToolBatch", "a2", {
        tool_calls: [{ tool_name: "Read", tool_use_id: call, tool_input: {} }],
      });
    at.message("a2", 1000, 20);
    at.message("a2", 3000, 50);
    at.message("a2", 3100, 10);
    await at.decide(batch("r-a2"));
    const { used } = sessionTokens(at.state);
    expect(used).toBeGreaterThan(2000);
    expect(at.spawnOfAgent("a2").meter).toMatchObject({ toolCalls: 1, turns: 1, inFlight: [] });
    await at.decide(at.launched("c2", "a2"));
    expect(at.spawnOfCall("c2").meter).toMatchObject({ toolCalls: 1, turns: 1 });
    expect(sessionTokens(at.state).used).toBe(used);
    await at.decide(at.toolCall("a2", { tool_use_id: "r2" }));
    await at.decide(batch("r2"));
    await at.decide(at.agentEvent("SubagentStop", "a2"));
    expect(at.spawnOfCall("c2").meter).toMatchObject({ toolCalls: 2, turns: 2 });
    // The prompt of the admitted spawn is known now, so its first request counts by the prompt's size.
    expect(Math.abs(sessionTokens(at.state).used - used)).toBeLessThan(100);
  });

  it("that comes twice changes nothing more", async () => {
    const at = newSession();
    await guessed(at);
    await at.decide(at.launched("c2", "a2"));
    const { spawns, session } = at.ledger();
    await at.decide(at.launched("c2", "a2"));
    expect(at.ledger()).toEqual({ spawns, session });
  });

  it("lifts a bar that rested on the guess", async () => {
    const at = newSession({ subagent_max_depth: 2 });
    await at.running("c0", "a0");
    await at.running("c1", "a1", by("a0"));
    await at.decide(at.agentCall("c2"));
    await at.decide(
      at.event("PreToolUse", { ...by("a1"), tool_name: "Skill", tool_use_id: "s", tool_input: {} }),
    );
    expect((await at.decide(at.toolCall("a2"))).deny).toContain("deeper than subagent_max_depth allows");
    await at.decide(at.launched("c2", "a2"));
    expect(await at.decide(at.toolCall("a2"))).toEqual({});
  });

  it("after the agent has ended ends the admitted spawn as well, and counts once", async () => {
    const at = newSession();
    await guessed(at);
    await at.decide(at.agentEvent("SubagentStop", "a2"));
    await at.decide(at.launched("c2", "a2"));
    expect(at.spawnOfCall("c2")).toMatchObject({ agent: "a2", phase: "ended", outcome: "completed" });
    expect(at.state.admitted).toBe(4);
    expect(Object.values(at.state.running).map(({ agent }) => agent)).toEqual(["a0", "a1", null]);
  });

  it("whose hook was killed half-way holds no slot for good", async () => {
    const at = newSession({ max_concurrent_spawns: 5 });
    await guessed(at);
    const adopted = at.spawnOfAgent("a2");
    const admitted = at.spawnOfCall("c2");
    // A merge that got as far as the adopted spawn's record.
    at.open().updateRecord(adopted.trace, (record) =>
      record === null ? null : { ...record, mergedInto: admitted.trace, phase: "ended", endedAt: at.now },
    );
    await at.decide(at.toolCall("a2"));
    expect((await at.decide(at.agentCall("c5"))).deny).toBeUndefined();
    expect(at.slot(adopted.trace)).toBeUndefined();
    expect(at.slot(admitted.trace)).toBeDefined();
    expect(at.state.admitted).toBe(5);
    await at.decide(at.event("SessionEnd"));
    expect(at.state.running).toEqual({});
  });
});
