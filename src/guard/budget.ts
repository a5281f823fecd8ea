import { type Meter, noteBatch, noteCall, ranMs, tokensUsed } from "../ledger/meter.ts";
import type { SpawnOrigin } from "../ledger/session-state.ts";
import type { SpawnRecord } from "../ledger/spawn-record.ts";
import type { Policy } from "../policy/policy-keys.ts";
import { type Refused, reasons } from "./reasons.ts";

export const LIMITS = ["tool_calls", "turns", "input_tokens", "time"] as const;
export type LimitName = (typeof LIMITS)[number];

/** One limit of a running spawn: calls, turns, tokens or milliseconds. */
export type LimitState = {
  limit: LimitName;
  used: number;
  /** the budget itself */
  budget: number;
  /** where calls are denied: the budget, or `runaway_factor` times it where no caller asked for it */
  bound: number;
};

/**
 * The host stops an agent at its maxTurns without a word, so the tools close two turns before: one for the calls
 * that are denied, one for the report (DESIGN "Budgets").
 */
export const TURNS_KEPT = 2;
/** DESIGN "Budgets": told once at 80 % of a limit. */
export const TOLD_AT = 0.8;
/** An agent that goes on in the second response after a denied one is ended (DESIGN "Budgets"). */
export const RESPONSES_AFTER_DENIAL = 2;

/** How many times its budget a spawn may use: once where its caller asked for it (DESIGN "Policy"). */
export function runawayFactor(origin: SpawnOrigin, policy: Policy): number {
  return origin === "caller" ? 1 : policy.runaway_factor;
}

/** Every limit of a spawn as it stands; `call` is not counted when it is the one being judged. */
export function limitStates(
  record: SpawnRecord,
  policy: Policy,
  now: number,
  call: string | null,
): LimitState[] {
  const { meter, payload, origin, hostTurns } = record;
  const { budget } = payload;
  const factor = runawayFactor(origin, policy);
  const inFlight = meter.inFlight.filter((other) => other !== call).length;
  const turns = Math.min(budget.max_turns * factor, hostTurns ?? Number.POSITIVE_INFINITY);
  return [
    state("tool_calls", meter.toolCalls + inFlight, budget.max_tool_calls, factor),
    {
      limit: "turns",
      used: meter.turns,
      budget: turnsWithTools(Math.min(budget.max_turns, hostTurns ?? budget.max_turns)),
      bound: turnsWithTools(turns),
    },
    state("input_tokens", tokensUsed(meter, record.phase === "ended").input, budget.max_input_tokens, factor),
    state("time", ranMs(meter, now), budget.timeout_ms, factor),
  ];
}

/** One that may take two turns has one with tools, after which it is told: the other is for its report. */
function turnsWithTools(turns: number): number {
  return Math.max(turns - TURNS_KEPT, turns >= 2 ? 1 : 0);
}

function state(limit: LimitName, used: number, budget: number, factor: number): LimitState {
  return { limit, used, budget, bound: budget * factor };
}

export type Judged = {
  meter: Meter;
  refused: Refused | null;
  /** the agent is to be ended: it went on after it had been told to stop */
  halt: boolean;
};

/** Whether a spawn's budget lets it make one more call, and its meter with that call noted. */
export function judgeBudget(record: SpawnRecord, call: string, policy: Policy, now: number): Judged {
  const { meter } = record;
  if (meter.counted.includes(call)) return { meter, refused: null, halt: false };
  const judged = judgeExhausted(record, call, policy, now);
  return judged.refused === null ? { ...judged, meter: noteCall(meter, call) } : judged;
}

/**
 * A response's calls are done: its meter with them counted, and what there is to say. Calls that failed before
 * PreToolUse could not be denied there, so a response past the limit is answered here.
 */
export function judgeBatch(
  record: SpawnRecord,
  calls: readonly string[],
  policy: Policy,
  now: number,
): Judged {
  const { meter } = record;
  const counted = noteBatch(meter, calls);
  const admitted = calls.every((call) => meter.inFlight.includes(call) || meter.counted.includes(call));
  if (counted === meter || admitted) return { meter: counted, refused: null, halt: false };
  const asked = { ...record, meter: { ...meter, inFlight: [] } };
  const judged = judgeExhausted(asked, null, policy, now);
  const { exhausted, exhaustedAt } = judged.meter;
  return { ...judged, meter: { ...counted, exhausted, exhaustedAt } };
}

function judgeExhausted(record: SpawnRecord, call: string | null, policy: Policy, now: number): Judged {
  const { meter } = record;
  const spent = limitStates(record, policy, now, call).find(({ used, bound }) => used >= bound);
  if (spent === undefined) return { meter, refused: null, halt: false };
  const refused = reasons.exhausted(spent.limit, limitText(spent));
  if (meter.exhaustedAt === null) {
    return {
      meter: { ...meter, exhausted: limitText(spent), exhaustedAt: meter.turns },
      refused,
      halt: false,
    };
  }
  return { meter, refused, halt: meter.turns >= meter.exhaustedAt + RESPONSES_AFTER_DENIAL };
}

/** What a subagent is to be told now, and its meter with that noted; each limit is told once. */
export function nearLimits(
  record: SpawnRecord,
  policy: Policy,
  now: number,
): { meter: Meter; note: string | null } {
  const { meter, origin } = record;
  const near = limitStates(record, policy, now, null).filter(({ limit, used, budget }) => {
    // A budget that nobody asked for is told when it is reached: the bound is further off.
    const from = origin === "caller" ? Math.max(1, Math.floor(budget * TOLD_AT)) : budget;
    return used >= from && !meter.told.includes(limit);
  });
  if (near.length === 0) return { meter, note: null };
  const told = [...meter.told, ...near.map(({ limit }) => limit)];
  return { meter: { ...meter, told }, note: reasons.nearLimit(near.map(limitText).join(", ")) };
}

/** `tool calls 80/100`; time in seconds. */
export function limitText({ limit, used, bound }: Pick<LimitState, "limit" | "used" | "bound">): string {
  const words = limit.replace("_", " ");
  if (limit === "time") return `${words} ${Math.round(used / 1000)}/${Math.round(bound / 1000)} s`;
  return `${words} ${used}/${bound}`;
}
