import { foreignRole } from "../roles/foreign-role.ts";
import { defaultBudget } from "../roles/role-budget.ts";
import type { SessionState, Slot } from "./session-state.ts";
import { newSpawnRecord, type SpawnRecord } from "./spawn-record.ts";

/** The slot that a spawn holds while it runs. */
export function slotOf(record: SpawnRecord): Slot {
  return {
    call: record.call,
    agent: record.agent,
    parent: record.parent,
    depth: record.depth,
    role: record.role,
    agentType: record.agentType,
    origin: record.origin,
    reserved: reservation(record),
    spent: 0,
    timeoutMs: record.payload.budget.timeout_ms,
    since: record.seenAt,
    children: record.children,
  };
}

/**
 * Tokens set aside from the session's cap: what a caller's payload may read and hand back. A payload that the
 * guard attached asked for nothing (DESIGN "Policy", session_token caps).
 */
function reservation({ origin, payload }: SpawnRecord): number {
  return origin === "caller" ? payload.budget.max_input_tokens + payload.budget.max_output_tokens : 0;
}

/** The running spawns with one more child counted for `parent`. */
export function countChild(running: Record<string, Slot>, parent: string | null): Record<string, Slot> {
  const slot = parent === null ? undefined : running[parent];
  if (parent === null || slot === undefined) return running;
  return { ...running, [parent]: { ...slot, children: slot.children + 1 } };
}

/** The state without a spawn that never ran: it counts neither for the session nor for its parent. */
export function giveBack(state: SessionState, parent: string | null): SessionState {
  const slot = parent === null ? undefined : state.running[parent];
  const running =
    parent === null || slot === undefined
      ? state.running
      : { ...state.running, [parent]: { ...slot, children: Math.max(0, slot.children - 1) } };
  return { ...state, admitted: Math.max(0, state.admitted - 1), running };
}

/** The record of a spawn that is known from its slot alone: its payload is lost, so its budget is the default. */
export function recordFromSlot(trace: string, slot: Slot): SpawnRecord {
  const { call, agent, parent, depth, role, agentType, origin, since, children } = slot;
  const payload = {
    trace_id: trace,
    parent_trace_id: parent,
    subagent_role: role,
    goal: "Unknown: the payload was lost",
    constraints: [],
    allowed_tools: ["*"],
    budget: { ...defaultBudget(foreignRole(role)), timeout_ms: slot.timeoutMs },
  };
  const phase = agent === null ? "reserved" : "running";
  const identity = { trace, call, agent, parent, depth, role, agentType, origin, payload, phase } as const;
  return { ...newSpawnRecord(identity, "", since), children };
}
