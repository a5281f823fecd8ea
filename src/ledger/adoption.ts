import { sessionIntent, sessionScope } from "../guard/intent.ts";
import { type ReasonCode, reasons } from "../guard/reasons.ts";
import { formatTraceId, traceDate } from "../payload/trace-id.ts";
import type { Policy } from "../policy/policy-keys.ts";
import { foreignRole } from "../roles/foreign-role.ts";
import { defaultBudget } from "../roles/role-budget.ts";
import type { Ledger } from "./ledger.ts";
import type { SessionState, Slot } from "./session-state.ts";
import { countChild, giveBack, slotOf } from "./slot.ts";
import { newSpawnRecord, type SpawnRecord } from "./spawn-record.ts";

/** Where an agent that no admitted call explains is thought to stand. */
export type Standing = {
  /** trace id; null for the main thread */
  parent: string | null;
  depth: number;
  /** why that cannot be believed, if it cannot */
  doubt: string | null;
};

export type Stray = {
  agentId: string;
  agentType: string | null;
  /** tool_use_id of the call it came from, where that is known but was not admitted */
  call: string | null;
  /** a reason to deny all its calls besides the limits */
  barred: ReasonCode | null;
};

/**
 * Takes in a subagent that the guard did not admit: it gets a spawn of its own with the default budget, counts
 * like any other, and has all its calls denied when it stands beyond a limit (DESIGN "Lineage" 4). Repeated for
 * the same agent it changes nothing.
 */
export function adoptAgent(
  ledger: Ledger,
  stray: Stray,
  standing: Standing,
  policy: Policy,
  now: number,
): SpawnRecord {
  const known = ledger.agent(stray.agentId)?.trace ?? null;
  const held = known === null ? null : ledger.record(known);
  if (held !== null) return held;

  const parent = standing.parent === null ? null : ledger.record(standing.parent);
  let record: SpawnRecord | undefined;
  ledger.updateSession((state) => {
    const slot = Object.entries(state.running).find(([, candidate]) => candidate.agent === stray.agentId);
    if (slot !== undefined) {
      record = alreadyIn(state, stray, standing, parent, policy, slot);
      return null;
    }
    record = newRecord(freeTrace(ledger, state, now), state, stray, standing, parent, policy, now);
    return {
      ...state,
      seq: state.seq + 1,
      admitted: state.admitted + 1,
      running: countChild({ ...state.running, [record.trace]: slotOf(record) }, standing.parent),
    };
  });
  if (record === undefined) throw new Error("the ledger did not take the agent in");
  const adopted = record;
  ledger.updateRecord(adopted.trace, (existing) => (existing === null ? adopted : null));
  ledger.updateAgent(stray.agentId, (entry) =>
    entry?.trace === adopted.trace
      ? null
      : { agentType: stray.agentType, startedAt: entry?.startedAt ?? null, trace: adopted.trace },
  );
  return ledger.record(adopted.trace) ?? adopted;
}

/**
 * What the record of an agent that holds a slot says where nobody has written it: whoever took it in was killed,
 * or is about to. A bar must not get lost on the way.
 */
function alreadyIn(
  state: SessionState,
  stray: Stray,
  standing: Standing,
  parent: SpawnRecord | null,
  policy: Policy,
  [trace, slot]: [string, Slot],
): SpawnRecord {
  const { [trace]: _, ...running } = state.running;
  const before = giveBack({ ...state, running }, slot.parent);
  const { depth, call, since } = slot;
  const held = { ...standing, parent: slot.parent, depth };
  return newRecord(trace, before, { ...stray, call }, held, parent, policy, since);
}

function freeTrace(ledger: Ledger, state: SessionState, now: number): string {
  let seq = state.seq;
  let trace: string;
  do {
    seq += 1;
    trace = formatTraceId({ date: traceDate(new Date(now)), run: state.run, seq });
  } while (Object.hasOwn(state.running, trace) || ledger.hasRecord(trace));
  return trace;
}

/** An adopted spawn has no more rights than the one it comes from. */
function newRecord(
  trace: string,
  state: SessionState,
  stray: Stray,
  standing: Standing,
  parent: SpawnRecord | null,
  policy: Policy,
  now: number,
): SpawnRecord {
  const role = foreignRole(stray.agentType ?? "unknown");
  const payload = {
    trace_id: trace,
    parent_trace_id: standing.parent,
    subagent_role: role.name,
    goal: `Adopted: agent ${stray.agentId} was found running`,
    constraints: [],
    allowed_tools: parent?.payload.allowed_tools ?? sessionIntent(state, policy),
    budget: defaultBudget(role),
  };
  const record = newSpawnRecord(
    {
      trace,
      call: stray.call,
      agent: stray.agentId,
      parent: standing.parent,
      depth: standing.depth,
      role: role.name,
      agentType: role.name,
      origin: "adopted",
      payload,
      phase: "running",
    },
    "",
    now,
  );
  return {
    ...record,
    doubt: standing.doubt,
    barred: stray.barred ?? beyondLimit(state, standing, policy),
    disallowed: parent?.disallowed ?? [],
    inheritedBans: parent?.disallowed ?? [],
    intent: parent?.intent ?? sessionIntent(state, policy),
    scope: parent?.scope ?? sessionScope(policy),
  };
}

function beyondLimit(state: SessionState, standing: Standing, policy: Policy): ReasonCode | null {
  if (standing.depth > policy.subagent_max_depth) {
    return reasons.depth(standing.depth, policy.subagent_max_depth).code;
  }
  if (state.admitted >= policy.max_spawns_per_session) return "spawns_exhausted";
  if (Object.keys(state.running).length >= policy.max_concurrent_spawns) return "concurrency_exceeded";
  return null;
}
