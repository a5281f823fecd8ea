import { describe, expect, it } from "vitest";
import { gaveBack } from "../../../src/ledger/rebuild.ts";
import { verified } from "../../support/receipts.ts";
import { type DecidedSession, decidedSessions } from "../../unit/ledger/decided-session.ts";
import { killedBefore } from "./kill-point.ts";

type Json = Record<string, unknown>;

const newSession = decidedSessions();
const GENERAL = "general-purpose";
const by = (agent: string) => ({ agent_id: agent, agent_type: GENERAL });

type Case = {
  what: string;
  setup: (at: DecidedSession) => Promise<unknown>;
  /** the event whose hook is killed */
  event: (at: DecidedSession) => Json;
  /** what has to hold when the session goes on; `again` when the host has delivered the event a second time */
  after: (at: DecidedSession, again: boolean) => Promise<void>;
};

const batch = (at: DecidedSession, members: Json = {}) =>
  at.event("PostToolBatch", { tool_calls: [{ tool_name: "Agent", tool_use_id: "c1" }], ...members });
const stop = (at: DecidedSession, agent: string) => at.agentEvent("SubagentStop", agent);
const notified = (at: DecidedSession, agent: string, call: string) =>
  at.event("UserPromptSubmit", {
    prompt: `<task-notification>\n<task-id>${agent}</task-id>\n<tool-use-id>${call}</tool-use-id>\n<status>completed</status>\n</task-notification>`,
  });
const sidecar = (
  at: DecidedSession,
  agent: string,
  call: string | null,
  parent: string | null,
  spawnDepth: number,
) =>
  at.sidecar(agent, {
    agentType: GENERAL,
    ...(call === null ? {} : { toolUseId: call }),
    ...(parent === null ? {} : { parentAgentId: parent }),
    spawnDepth,
  });

async function chainOfThree(at: DecidedSession): Promise<void> {
  await at.running("c1", "a1");
  await at.running("c2", "a2", by("a1"));
  await at.running("c3", "a3", by("a2"));
}

const CASES: Case[] = [
  {
    what: "an Agent call of the main thread",
    setup: (at) => at.running("c0", "a0"),
    event: (at) => at.agentCall("c1"),
    after: async (at, again) => {
      // A call that got no answer is blocked by the host, and its caller's batch has no result for it.
      await at.decide(batch(at));
      if (again) expect(at.spawnOfCall("c1")).toMatchObject({ outcome: "cancelled", depth: 1 });
      expect(at.state).toMatchObject({ admitted: 1 });
      expect(Object.values(at.state.running).map(({ call }) => call)).toEqual(["c0"]);
    },
  },
  {
    what: "an Agent call of a spawn",
    setup: (at) => at.running("c0", "a0"),
    event: (at) => at.agentCall("c1", by("a0")),
    after: async (at, again) => {
      const parent = at.spawnOfCall("c0").trace;
      if (again) {
        sidecar(at, "a1", "c1", "a0", 2);
        await at.decide(at.launched("c1", "a1", by("a0")));
        expect(await at.decide(at.toolCall("a1"))).toEqual({});
        expect(at.spawnOfCall("c1")).toMatchObject({ agent: "a1", depth: 2, parent });
      }
      await at.decide(batch(at, by("a0")));
      expect(at.state.admitted).toBe(again ? 2 : 1);
      expect(at.slot(parent)?.children).toBe(again ? 1 : 0);
    },
  },
  {
    what: "the result of a background call",
    setup: async (at) => {
      await at.decide(at.agentCall("c1"));
      sidecar(at, "a1", "c1", null, 1);
    },
    event: (at) => at.launched("c1", "a1"),
    after: async (at) => {
      await at.decide(batch(at));
      expect(await at.decide(at.toolCall("a1"))).toEqual({});
      expect(at.spawnOfCall("c1")).toMatchObject({ agent: "a1", phase: "running", depth: 1, doubt: null });
      expect(at.state.admitted).toBe(1);
      await at.decide(stop(at, "a1"));
      expect(at.state).toMatchObject({ admitted: 1, running: {} });
    },
  },
  {
    what: "the first call of an agent, which its sidecar binds",
    setup: async (at) => {
      await at.decide(at.agentCall("c1"));
      sidecar(at, "a1", "c1", null, 1);
    },
    event: (at) => at.toolCall("a1"),
    after: async (at) => {
      expect(await at.decide(at.toolCall("a1", { tool_use_id: "r2" }))).toEqual({});
      expect(at.spawnOfCall("c1")).toMatchObject({ agent: "a1", phase: "running" });
      await at.decide(batch(at));
      await at.decide(at.toolCall("a1", { tool_use_id: "r3" }));
      expect(at.state.admitted).toBe(1);
      expect(Object.values(at.state.running)).toMatchObject([{ agent: "a1" }]);
    },
  },
  {
    what: "the first call of an agent that nobody admitted, beyond the depth limit",
    setup: async (at) => {
      await chainOfThree(at);
      sidecar(at, "a4", null, "a3", 4);
    },
    event: (at) => at.toolCall("a4"),
    after: async (at) => {
      const { deny } = await at.decide(at.toolCall("a4", { tool_use_id: "r2" }));
      expect(deny).toContain("deeper than subagent_max_depth allows");
      expect(at.spawnOfAgent("a4")).toMatchObject({ depth: 4, barred: "depth_exceeded" });
      expect(at.state.admitted).toBe(4);
    },
  },
  {
    what: "SubagentStop",
    setup: async (at) => {
      await at.running("c1", "a1");
      await at.running("c2", "a2", by("a1"));
    },
    event: (at) => stop(at, "a1"),
    after: async (at) => {
      await at.decide(notified(at, "a1", "c1"));
      expect(at.spawnOfCall("c1")).toMatchObject({ phase: "ended", outcome: "completed" });
      expect(Object.values(at.state.running)).toMatchObject([{ agent: "a2" }]);
      expect(at.state.admitted).toBe(2);
    },
  },
  {
    what: "SubagentStop, and nothing tells of the end again, but a limit is reached",
    setup: (at) => {
      at.environment.CLAUDE_PLUGIN_OPTION_MAX_CONCURRENT_SPAWNS = "1";
      return at.running("c1", "a1");
    },
    event: (at) => stop(at, "a1"),
    after: async (at) => {
      const ended = at.spawnOfCall("c1").phase === "ended";
      expect((await at.decide(at.agentCall("c2"))).deny === undefined).toBe(ended);
      at.now += 3_600_000;
      expect((await at.decide(at.agentCall("c3"))).deny).toBeUndefined();
      expect(Object.values(at.state.running)).toHaveLength(1);
    },
  },
  {
    what: "PostToolUseFailure of a call that never started",
    setup: async (at) => {
      await at.running("c0", "a0");
      await at.decide(at.agentCall("c1", by("a0")));
    },
    event: (at) =>
      at.event("PostToolUseFailure", {
        ...by("a0"),
        tool_name: "Agent",
        tool_use_id: "c1",
        tool_input: {},
        error: "no such type",
      }),
    after: async (at) => {
      await at.decide(batch(at, by("a0")));
      expect(gaveBack(at.spawnOfCall("c1"))).toBe(true);
      expect(at.state.admitted).toBe(1);
      expect(at.slot(at.spawnOfCall("c0").trace)?.children).toBe(0);
    },
  },
  {
    what: "PostToolBatch that cancels two calls",
    setup: async (at) => {
      await at.running("c0", "a0");
      await at.decide(at.agentCall("c1"));
      await at.decide(at.agentCall("c2"));
    },
    event: (at) => batch(at),
    after: async (at) => {
      await at.decide(batch(at));
      expect(at.state.admitted).toBe(1);
      expect(Object.values(at.state.running)).toMatchObject([{ agent: "a0" }]);
    },
  },
  {
    what: "SubagentStart that resumes a spawn",
    setup: async (at) => {
      await at.running("c1", "a1");
      await at.decide(stop(at, "a1"));
    },
    event: (at) => at.agentEvent("SubagentStart", "a1"),
    after: async (at) => {
      expect(await at.decide(at.toolCall("a1"))).toEqual({});
      expect(at.spawnOfCall("c1")).toMatchObject({ phase: "running", outcome: null });
      expect(at.state.admitted).toBe(1);
      expect(Object.values(at.state.running)).toMatchObject([{ agent: "a1" }]);
    },
  },
  {
    what: "proof that comes late",
    setup: async (at) => {
      at.environment.CLAUDE_PLUGIN_OPTION_MAX_CONCURRENT_SPAWNS = "4";
      await at.running("c0", "a0");
      await at.decide(at.agentCall("c1"));
      await at.decide(at.agentCall("c2", by("a0")));
      await at.decide(at.toolCall("a1"));
      expect(at.spawnOfAgent("a1")).toMatchObject({ origin: "adopted", depth: 2 });
    },
    event: (at) => at.launched("c1", "a1"),
    after: async (at, again) => {
      const merged = at.ledger().spawns.some(({ mergedInto }) => mergedInto !== null);
      expect(await at.decide(at.toolCall("a1"))).toEqual({});
      if (again) {
        expect(at.spawnOfAgent("a1")).toMatchObject({ call: "c1", depth: 1 });
        expect(at.state.admitted).toBe(3);
      }
      if (merged) expect((await at.decide(at.agentCall("c3"))).deny).toBeUndefined();
      expect(Object.values(at.state.running).filter(({ agent }) => agent === "a1")).toHaveLength(1);
    },
  },
  {
    what: "SessionEnd with spawns at every depth",
    setup: chainOfThree,
    event: (at) => at.event("SessionEnd"),
    after: async (at) => {
      await at.decide(at.event("SessionStart", { source: "resume" }));
      expect(at.state).toMatchObject({ admitted: 3, running: {} });
      expect(at.ledger().spawns.map(({ outcome }) => outcome)).toEqual(Array(3).fill("session_ended"));
      expect((await at.decide(at.agentCall("c9"))).deny).toBeUndefined();
    },
  },
];

describe.each(CASES)("$what", ({ setup, event, after }) => {
  it.each([
    ["and the session goes on", false],
    ["and the event comes again", true],
  ])("may be killed before any change of files, %s", async (_, again) => {
    const points = await countChanges(setup, event);
    expect(points).toBeGreaterThan(3);
    for (let point = 1; point <= points; point++) {
      const at = newSession();
      await setup(at);
      const victim = event(at);
      const { result } = await killedBefore(point, () => at.decide(victim));
      expect(result, `killed before change ${point} of ${points}`).toBeNull();
      expectSound(at);
      if (again) {
        const answer = await at.decide(victim);
        if (victim.tool_name === "Agent") expect(answer.deny).toBeUndefined();
        expectSound(at);
      }
      await after(at, again);
      await at.decide(at.event("SessionEnd"));
      expect(at.state).toMatchObject({ running: {}, damage: [] });
      expect(verified(at).broken).toEqual([]);
    }
  });
});

async function countChanges(
  setup: (at: DecidedSession) => Promise<unknown>,
  event: (at: DecidedSession) => Json,
): Promise<number> {
  const at = newSession();
  await setup(at);
  const victim = event(at);
  const { changes } = await killedBefore(Number.POSITIVE_INFINITY, () => at.decide(victim));
  return changes;
}

/** Ledger and chains read without damage, and exactly the spawns count that hold a slot or held one. */
function expectSound(at: DecidedSession): void {
  const ledger = at.open();
  const state = ledger.session();
  if (state === null) throw new Error("the session has no ledger");
  const held = new Set(Object.keys(state.running));
  for (const record of ledger.allRecords()) if (!gaveBack(record)) held.add(record.trace);
  expect({ admitted: state.admitted, damage: state.damage, damaged: ledger.damaged }).toEqual({
    admitted: held.size,
    damage: [],
    damaged: [],
  });
  expect(verified(at).broken).toEqual([]);
}
