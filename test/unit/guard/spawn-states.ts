import { decideSpawn, type SpawnDecision } from "../../../src/guard/decide-spawn.ts";
import type { Caller, SpawnRequest, Target } from "../../../src/guard/spawn-request.ts";
import { type Meter, newMeter } from "../../../src/ledger/meter.ts";
import { newSession, type SessionState, type Slot } from "../../../src/ledger/session-state.ts";
import { newSpawnRecord, type SpawnRecord } from "../../../src/ledger/spawn-record.ts";
import { findBlock } from "../../../src/payload/prompt-block.ts";
import type { Budget, SpawnPayload } from "../../../src/payload/spawn-payload.ts";
import { checkPayload } from "../../../src/payload/validate.ts";
import { DEFAULT_POLICY, type Policy } from "../../../src/policy/policy-keys.ts";
import { foreignRole } from "../../../src/roles/foreign-role.ts";
import type { Role } from "../../../src/roles/role.ts";

export type SpawnCaller = Extract<Caller, { kind: "spawn" }>;

/** 2026-11-30, the day in the trace ids below. */
export const NOW = Date.UTC(2026, 10, 30, 12);
export const PARENT = "wf-20261130-abc123-spawn-001";

export function policy(members: Partial<Policy> = {}): Policy {
  return { ...DEFAULT_POLICY, ...members };
}

export function session(members: Partial<SessionState> = {}): SessionState {
  return { ...newSession("abc123", 0, "*"), ...members };
}

export function slot(members: Partial<Slot> = {}): Slot {
  return {
    call: "earlier",
    agent: "a1",
    parent: null,
    depth: 1,
    role: "general-purpose",
    agentType: "general-purpose",
    origin: "attached",
    reserved: 0,
    spent: 0,
    timeoutMs: 60_000,
    since: NOW,
    children: 0,
    ...members,
  };
}

export function role(members: Partial<Role> = {}): Role {
  return { ...foreignRole("qa-engineer"), origin: "plugin", ...members };
}

export function target(members: Partial<Role> = {}): Target {
  const own = role(members);
  return {
    role: own,
    agentType: own.origin === "plugin" ? `spawn-guard:${own.name}` : own.name,
    known: true,
  };
}

export const MAIN: Caller = { kind: "main", intent: ["*"] };

export function caller(members: Partial<SpawnCaller> = {}): SpawnCaller {
  return {
    kind: "spawn",
    trace: PARENT,
    depth: 1,
    lineage: { known: true },
    tools: ["*"],
    disallowed: [],
    inheritedBans: [],
    intent: members.tools ?? ["*"],
    scope: "permissive",
    handsOn: [],
    isProjectRole: false,
    left: { inputTokens: 400_000, timeMs: 4_000_000 },
    ...members,
  };
}

export const BUDGET: Budget = {
  max_input_tokens: 10_000,
  max_output_tokens: 500,
  max_tool_calls: 10,
  max_turns: 10,
  timeout_ms: 600_000,
  retry_budget: 1,
};

export function payload(members: Partial<SpawnPayload> = {}): SpawnPayload {
  return {
    trace_id: "wf-20261130-zzzzzz-spawn-009",
    subagent_role: "qa-engineer",
    goal: "look at one part",
    constraints: [],
    allowed_tools: ["Read"],
    budget: BUDGET,
    ...members,
  };
}

export function budget(members: Partial<Budget>): Budget {
  return { ...BUDGET, ...members };
}

export function request(members: Partial<SpawnRequest> = {}): SpawnRequest {
  return {
    call: "c1",
    key: "k1",
    caller: MAIN,
    input: { description: "a part of it", prompt: "look at one part", subagent_type: "qa-engineer" },
    payload: { kind: "none" },
    target: target(),
    policy: DEFAULT_POLICY,
    now: NOW,
    traceUsed: () => false,
    ...members,
  };
}

/** A call whose prompt holds this payload. */
export function giving(given: SpawnPayload, members: Partial<SpawnRequest> = {}): SpawnRequest {
  return request({ payload: { kind: "one", payload: given }, ...members });
}

export function record(members: Partial<SpawnRecord> = {}, prompt = ""): SpawnRecord {
  const base = newSpawnRecord(
    {
      trace: PARENT,
      call: "earlier",
      agent: "a1",
      parent: null,
      depth: 1,
      role: "qa-engineer",
      agentType: "spawn-guard:qa-engineer",
      origin: "caller",
      payload: payload({ trace_id: PARENT }),
      phase: "running",
    },
    prompt,
    NOW,
  );
  return { ...base, ...members };
}

export function meter(members: Partial<Meter> = {}): Meter {
  return { ...newMeter(""), ...members };
}

/** Decides with an input that throws when anybody writes to it. */
export function decide(state: SessionState, asked: SpawnRequest): SpawnDecision {
  return decideSpawn(deepFreeze(state), deepFreeze(asked));
}

export function admitted(decision: SpawnDecision): Extract<SpawnDecision, { kind: "admitted" }> {
  if (decision.kind === "admitted") return decision;
  throw new Error(decision.kind === "refused" ? decision.refused.reason : `known as ${decision.trace}`);
}

export function refused(decision: SpawnDecision): Extract<SpawnDecision, { kind: "refused" }> {
  if (decision.kind === "refused") return decision;
  throw new Error(`the call was ${decision.kind}, not refused`);
}

/** The payload in a text's block; throws for one that the schema would refuse. */
export function payloadIn(text: string): SpawnPayload {
  const found = findBlock(text);
  if (found.kind !== "one") throw new Error(`the text holds no one block: ${found.kind}`);
  const checked = checkPayload(found.json);
  if (!checked.ok) throw new Error(JSON.stringify(checked.problems));
  return checked.payload;
}

export function deepFreeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const member of Object.values(value)) deepFreeze(member);
  }
  return value;
}

/** A meter whose transcript shows this many tokens of context growth and of output. */
export function metered(input: number, output: number, members: Partial<Meter> = {}): Meter {
  const base = meter(members);
  const settled = { messages: 1, input, output, toolUses: 0 };
  return { ...base, transcript: { ...base.transcript, meter: { ...base.transcript.meter, settled } } };
}
