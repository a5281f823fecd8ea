import { describe, expect, it } from "vitest";
import { decideSpawn } from "../../../src/guard/decide-spawn.ts";
import type { SpawnRequest } from "../../../src/guard/spawn-request.ts";
import { admitSpawn } from "../../../src/ledger/admission.ts";
import { DEFAULT_POLICY } from "../../../src/policy/policy-keys.ts";
import { foreignRole } from "../../../src/roles/foreign-role.ts";
import { type DecidedSession, decidedSessions } from "./decided-session.ts";

const newSession = decidedSessions();

function request(at: DecidedSession, call: string, members: Partial<SpawnRequest> = {}): SpawnRequest {
  const input = { description: "a part of it", prompt: `look at ${call}` };
  return {
    call,
    key: call,
    caller: { kind: "main", intent: ["*"] },
    input,
    payload: { kind: "none" },
    target: { role: foreignRole("general-purpose"), agentType: "general-purpose", known: true },
    policy: DEFAULT_POLICY,
    now: at.now,
    traceUsed: (trace) => at.open().hasRecord(trace),
    ...members,
  };
}

/** What a hook leaves that is killed right after it took the slot. */
function takeSlotOnly(at: DecidedSession, asked: SpawnRequest): string {
  let trace = "";
  at.open().updateSession((state) => {
    const decision = decideSpawn(state, asked);
    if (decision.kind !== "admitted") throw new Error(decision.kind);
    trace = decision.record.trace;
    return decision.session;
  });
  return trace;
}

describe("the same call asked about again", () => {
  it("gets the answer that it got, after its spawn has ended as well", () => {
    const at = newSession();
    const first = admitSpawn(at.open(), request(at, "c1"));
    expect(first.kind).toBe("admitted");
    expect(admitSpawn(at.open(), request(at, "c1"))).toEqual(first);
    at.open().updateSession((state) => ({ ...state, running: {} }));
    at.now += 1000;
    expect(admitSpawn(at.open(), request(at, "c1"))).toEqual(first);
    expect(at.state.admitted).toBe(1);
  });

  // Two hooks of one event at once, or one that was killed: the slot is taken, and no record is written yet.
  it.each([
    ["a spawn of the main thread", {}],
    ["the last spawn that a limit allows", { policy: { ...DEFAULT_POLICY, max_spawns_per_session: 1 } }],
    ["the last slot", { policy: { ...DEFAULT_POLICY, max_concurrent_spawns: 1 } }],
  ])("before the first has written the record gets the same answer (%s)", (_, members) => {
    const at = newSession();
    const asked = request(at, "c1", members);
    const trace = takeSlotOnly(at, asked);
    at.now += 5;
    const later = admitSpawn(at.open(), { ...asked, now: at.now });
    if (later.kind !== "admitted") throw new Error(later.kind);
    expect(later.record).toMatchObject({ trace, call: "c1", admittedAt: asked.now, doubt: null });
    expect(later.record.payload).toMatchObject({ trace_id: trace, goal: "a part of it" });
    expect(later.input.prompt).toContain(trace);
    expect(at.spawnOfCall("c1")).toEqual(later.record);
    expect(admitSpawn(at.open(), request(at, "c1", members))).toEqual(later);
    expect(at.state.admitted).toBe(1);
  });

  it("by a spawn at the limit of its children gets the same answer too", async () => {
    const at = newSession();
    const parent = await at.running("c1", "a1");
    const asked = request(at, "c2", {
      caller: {
        kind: "spawn",
        trace: parent.trace,
        depth: 1,
        lineage: { known: true },
        tools: ["*"],
        disallowed: [],
        inheritedBans: [],
        intent: ["*"],
        scope: "permissive",
        handsOn: [],
        isProjectRole: false,
        left: { inputTokens: 100_000, timeMs: 600_000 },
      },
      policy: { ...DEFAULT_POLICY, max_children_per_spawn: 1 },
    });
    const trace = takeSlotOnly(at, asked);
    const later = admitSpawn(at.open(), asked);
    if (later.kind !== "admitted") throw new Error(later.kind);
    expect(later.record).toMatchObject({ trace, parent: parent.trace, depth: 2 });
    expect(at.slot(parent.trace)?.children).toBe(1);
  });

  it("with the caller's own payload gets that payload", () => {
    const at = newSession();
    const payload = {
      trace_id: "wf-20261130-abc123-spawn-1",
      parent_trace_id: null,
      subagent_role: "general-purpose",
      goal: "look at one part",
      constraints: [],
      allowed_tools: ["Read"],
      budget: {
        max_input_tokens: 1000,
        max_output_tokens: 100,
        max_tool_calls: 5,
        max_turns: 5,
        timeout_ms: 60_000,
        retry_budget: 0,
      },
    };
    const asked = request(at, "c1", { payload: { kind: "one", payload } });
    takeSlotOnly(at, asked);
    const later = admitSpawn(at.open(), asked);
    if (later.kind !== "admitted") throw new Error(later.kind);
    expect(later.record).toMatchObject({ origin: "caller", payload });
  });
});

describe("a call whose entry is damaged", () => {
  it("is still known by its slot while the spawn runs", async () => {
    const at = newSession();
    const { trace } = await at.running("c1", "a1");
    at.damage("calls/c1");
    expect(at.open().traceOfCall("c1")).toBe(trace);
  });

  it("is noticed, reported and set aside, and never read as another spawn", async () => {
    const at = newSession();
    await at.running("c1", "a1");
    await at.decide(at.agentEvent("SubagentStop", "a1"));
    const [file] = at.damage("calls/c1");
    const ledger = at.open();
    expect(ledger.traceOfCall("c1")).toBeNull();
    expect(ledger.damaged).toEqual([file]);
    expect(at.open().damaged).toEqual([]);
  });
});
