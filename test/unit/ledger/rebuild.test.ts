import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { sessionTokens } from "../../../src/guard/session-tokens.ts";
import { type DecidedSession, decidedSessions } from "./decided-session.ts";

const newSession = decidedSessions();
const by = (agent: string) => ({ agent_id: agent, agent_type: "general-purpose" });

/** Seven calls: t1 with two children (one of them ended), t4 ended, t5 reserved, t6 cancelled, t7 never started. */
async function busy(): Promise<DecidedSession> {
  const at = newSession();
  await at.running("t1", "a1");
  await at.running("t2", "a2", by("a1"));
  await at.running("t3", "a3", by("a1"));
  await at.decide(at.agentEvent("SubagentStop", "a3"));
  await at.running("t4", "a4");
  await at.decide(at.agentEvent("SubagentStop", "a4"));
  await at.decide(at.agentCall("t6"));
  await at.decide(at.event("PostToolBatch", { tool_calls: [{ tool_name: "Agent", tool_use_id: "t6" }] }));
  await at.decide(at.agentCall("t7"));
  await at.decide(
    at.event("PostToolUseFailure", {
      tool_name: "Agent",
      tool_use_id: "t7",
      tool_input: {},
      error: "no type",
    }),
  );
  await at.decide(at.agentCall("t5"));
  return at;
}

const LOSSES: [string, (at: DecidedSession) => void][] = [
  ["the newest version is damaged", (at) => at.damage("session", 1)],
  ["two versions are damaged", (at) => at.damage("session", 2)],
  ["every version is damaged", (at) => at.damage("session")],
  ["the session's folder is removed", (at) => rmSync(join(at.folder, "session"), { recursive: true })],
];

describe.each(LOSSES)("when %s", (_, lose) => {
  it("the counts are what the records show, and the running spawns hold their slots", async () => {
    const at = await busy();
    const before = at.state;
    lose(at);
    const after = at.state;
    expect(after.admitted).toBe(5);
    expect(after.seq).toBeGreaterThanOrEqual(before.seq);
    expect(after.damage).toEqual(["session"]);
    const named = (state: typeof before) =>
      Object.fromEntries(
        Object.entries(state.running).map(([trace, { since: _since, ...slot }]) => [trace, slot]),
      );
    expect(named(after)).toEqual(named(before));
    expect(at.state).toEqual(after);
  });

  it("the next events go on as if nothing had happened", async () => {
    const at = await busy();
    const { trace } = at.spawnOfCall("t1");
    lose(at);
    // The caller's batch cancels t5, which has no agent, and none of the others.
    await at.decide(at.event("PostToolBatch", { tool_calls: [{ tool_name: "Agent", tool_use_id: "t5" }] }));
    expect(
      Object.values(at.state.running)
        .map(({ agent }) => agent)
        .sort(),
    ).toEqual(["a1", "a2"]);
    expect((await at.decide(at.agentCall("t8", by("a1")))).deny).toBeUndefined();
    expect(at.slot(trace)?.children).toBe(3);
    expect(at.state.admitted).toBe(5);
    const traces = at.ledger().spawns.map((spawn) => spawn.trace);
    expect(new Set(traces).size).toBe(traces.length);
  });

  it("no spawn is to be had that the limit had refused before", async () => {
    const at = await busy();
    at.environment.CLAUDE_PLUGIN_OPTION_MAX_SPAWNS_PER_SESSION = "5";
    expect((await at.decide(at.agentCall("t8"))).deny).toContain("has made 5 spawns");
    lose(at);
    expect((await at.decide(at.agentCall("t9"))).deny).toContain("has made 5 spawns");
  });
});

describe.each(LOSSES)("when %s, what the spawns have used", (_, lose) => {
  it("is still known: of those that ended, run and run again", async () => {
    const at = newSession();
    const batch = (agent: string) =>
      at.agentEvent("PostToolBatch", agent, {
        tool_calls: [{ tool_name: "Read", tool_use_id: `r-${agent}-${at.now}`, tool_input: {} }],
      });
    for (const agent of ["a1", "a2", "a3"]) {
      await at.running(`t-${agent}`, agent);
      at.message(agent, 1000, 20);
      at.message(agent, 3000, 50);
      await at.decide(at.toolCall(agent));
      await at.decide(batch(agent));
    }
    for (const agent of ["a2", "a3"]) await at.decide(at.agentEvent("SubagentStop", agent));
    await at.decide(at.agentEvent("SubagentStart", "a3"));
    at.message("a3", 9000, 70);
    await at.decide(at.toolCall("a3"));
    await at.decide(batch("a3"));
    const before = sessionTokens(at.state);
    expect(before.used).toBeGreaterThan(10_000);
    lose(at);
    expect(sessionTokens(at.state)).toEqual(before);
    await at.decide(at.event("SessionEnd"));
    expect(sessionTokens(at.state)).toEqual(before);
  });
});

describe("when the newest version is damaged while a spawn is being admitted", () => {
  it("the spawn keeps its slot, and counts", async () => {
    const at = await busy();
    const trace = "wf-20261130-abc123-spawn-9";
    // What a hook has done between its two steps: the slot is taken, the record is not written.
    at.open().updateSession((state) => {
      const [slot] = Object.values(state.running);
      if (slot === undefined) throw new Error("nothing runs");
      const fresh = { ...slot, call: "t8", agent: null, parent: null, depth: 1, children: 0 };
      return { ...state, admitted: state.admitted + 1, running: { ...state.running, [trace]: fresh } };
    });
    const slot = at.slot(trace);
    at.open().updateSession((state) => ({ ...state, told: ["something"] }));
    at.damage("session", 1);
    expect(at.slot(trace)).toEqual(slot);
    expect(at.state.admitted).toBe(6);
  });
});

describe("a record that is damaged", () => {
  it("of a running spawn is known by its slot, and what it was admitted for is not: it may do nothing", async () => {
    const at = newSession();
    const { trace } = await at.running("t1", "a1");
    at.damage(`spawns/${trace}`);
    expect((await at.decide(at.toolCall("a1"))).deny).toContain("is lost");
    expect(at.open().record(trace)).toMatchObject({ depth: 1, agent: "a1", doubt: "its record was damaged" });
    expect((await at.decide(at.agentCall("t2", by("a1")))).deny).toContain("is lost");
    await at.decide(at.agentEvent("SubagentStop", "a1"));
    expect(at.state).toMatchObject({ admitted: 1, running: {} });
  });

  it("is told to the person once", async () => {
    const at = newSession();
    const { trace } = await at.running("t1", "a1");
    const files = at.damage(`spawns/${trace}`);
    const ledger = at.open();
    ledger.record(trace);
    expect(ledger.damaged.sort()).toEqual(files.sort());
    const again = at.open();
    again.record(trace);
    expect(again.damaged).toEqual([]);
  });

  it("of an ended parent leaves its child's lineage unknown", async () => {
    const at = newSession();
    const { trace } = await at.running("t1", "a1");
    await at.running("t2", "a2", by("a1"));
    await at.decide(at.agentEvent("SubagentStop", "a1"));
    at.damage(`spawns/${trace}`);
    expect((await at.decide(at.agentCall("t3", by("a2")))).deny).toContain("not certain");
  });

  it("still counts as a spawn when the session is rebuilt", async () => {
    const at = await busy();
    for (const call of ["t1", "t4"]) at.damage(`spawns/${at.spawnOfCall(call).trace}`);
    at.damage("session");
    expect(at.state.admitted).toBe(5);
  });

  it("is told when only a rebuild comes across it", async () => {
    const at = await busy();
    const files = at.damage(`spawns/${at.spawnOfCall("t4").trace}`);
    at.damage("session");
    const ledger = at.open();
    ledger.session();
    expect(ledger.damaged).toEqual(expect.arrayContaining(files));
  });

  it("leaves one set-aside file for each damaged one, however often it is read", async () => {
    const at = newSession();
    const { trace } = await at.running("t1", "a1");
    const files = at.damage(`spawns/${trace}`);
    for (let times = 0; times < 50; times++) await at.decide(at.toolCall("a1", { tool_use_id: `r${times}` }));
    const aside = readdirSync(join(at.folder, "spawns", trace)).filter((name) => name.endsWith(".damaged"));
    expect(aside).toHaveLength(files.length);
  });
});

describe("an agent's entry that is damaged", () => {
  it("is found again by its sidecar, and nothing counts twice", async () => {
    const at = newSession();
    await at.running("t1", "a1");
    at.sidecar("a1", { agentType: "general-purpose", toolUseId: "t1", spawnDepth: 1 });
    at.damage("agents/a1");
    await at.decide(at.toolCall("a1"));
    expect(at.spawnOfAgent("a1").call).toBe("t1");
    expect(at.state.admitted).toBe(1);
  });

  it("is found again by its slot when there is no sidecar", async () => {
    const at = newSession();
    await at.running("t1", "a1");
    at.damage("agents/a1");
    await at.decide(at.toolCall("a1"));
    expect(at.spawnOfAgent("a1")).toMatchObject({ call: "t1", origin: "attached" });
    expect(at.state.admitted).toBe(1);
  });
});

describe("files that nobody of ours made", () => {
  it.each(["spawns/lock", "agents/lock", "calls/lock", "lock", "session/lock"])(
    "%s hinders no decision and no rebuild",
    async (name) => {
      const at = await busy();
      at.put(name, "999999\n");
      at.damage("session");
      expect((await at.decide(at.agentCall("t8"))).deny).toBeUndefined();
      expect(at.state.admitted).toBe(6);
    },
  );
});
