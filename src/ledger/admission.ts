import { decideSpawn, type SpawnDecision } from "../guard/decide-spawn.ts";
import type { ReasonCode, Refused } from "../guard/reasons.ts";
import { noteRefusal } from "../guard/refusal.ts";
import { spawnInput } from "../guard/spawn-prompt.ts";
import type { AgentInput, SpawnRequest } from "../guard/spawn-request.ts";
import { reclaimSlots } from "./ending.ts";
import type { Ledger } from "./ledger.ts";
import { giveBack } from "./slot.ts";
import type { SpawnRecord } from "./spawn-record.ts";

export type Admission =
  | { kind: "admitted"; record: SpawnRecord; input: AgentInput }
  | Extract<SpawnDecision, { kind: "refused" }>;

/** Whoever admits a spawn writes its record at once; after this many milliseconds they have been killed. */
const RECORD_WRITTEN_MS = 300;

/** Limits that a slot left behind could have reached. */
const RECLAIMABLE: ReadonlySet<ReasonCode> = new Set(["concurrency_exceeded", "session_tokens_exceeded"]);

/**
 * Decides about an Agent call and records the decision in one step: of any number of calls at once, as many are
 * admitted as the limits allow. Throws LedgerBusy.
 */
export function admitSpawn(ledger: Ledger, request: SpawnRequest): Admission {
  const earlier = ledger.traceOfCall(request.call);
  const known = earlier === null ? null : repeated(ledger, earlier, request);
  if (known !== null) return known;

  let decision = decide(ledger, request, (candidate) => !isReclaimable(candidate));
  if (isReclaimable(decision)) {
    const state = ledger.session();
    if (state !== null) reclaimSlots(ledger, state, request.now);
    decision = decide(ledger, request, () => true);
  }
  switch (decision.kind) {
    case "refused":
      return decision;
    case "known":
      return repeated(ledger, decision.trace, request) ?? refuseToGuess(decision.trace);
    case "admitted": {
      const { record, input } = decision;
      ledger.updateRecord(record.trace, (written) => (written === null ? record : null));
      ledger.recordCall(request.call, record.trace);
      return { kind: "admitted", record, input };
    }
  }
}

function decide(
  ledger: Ledger,
  request: SpawnRequest,
  commits: (decision: SpawnDecision) => boolean,
): SpawnDecision {
  let decision: SpawnDecision | undefined;
  ledger.updateSession((state) => {
    decision = decideSpawn(state, request);
    if (decision.kind === "known" || decision.session === state || !commits(decision)) return null;
    return decision.session;
  });
  if (decision === undefined) throw new Error("the ledger did not ask for a decision");
  return decision;
}

function isReclaimable(decision: SpawnDecision): boolean {
  return decision.kind === "refused" && RECLAIMABLE.has(decision.refused.code);
}

/** The answer to a call that came twice is the answer it got the first time. */
function repeated(ledger: Ledger, trace: string, request: SpawnRequest): Admission | null {
  const record =
    ledger.awaitRecord(trace, RECORD_WRITTEN_MS) ??
    ledger.updateRecord(trace, (written) =>
      written === null ? recordToWrite(ledger, trace, request) : null,
    ) ??
    ledger.record(trace);
  if (record === null) return null;
  return {
    kind: "admitted",
    record,
    input: spawnInput(request.input, record, request.policy.subagent_max_depth),
  };
}

/**
 * The record of a call that holds a slot already, before whoever admitted it has written it or because they were
 * killed: the same decision, made again on the state without the slot.
 */
function recordToWrite(ledger: Ledger, trace: string, request: SpawnRequest): SpawnRecord | null {
  const state = ledger.session();
  const slot = state?.running[trace];
  if (state == null || slot === undefined) return null;
  const { [trace]: _, ...running } = state.running;
  const traceUsed = (other: string) => other !== trace && request.traceUsed(other);
  const again = decideSpawn(giveBack({ ...state, running }, slot.parent), { ...request, traceUsed });
  if (again.kind !== "admitted") return null;
  const payload = { ...again.record.payload, trace_id: trace };
  return { ...again.record, trace, payload, admittedAt: slot.since, seenAt: slot.since };
}

function refuseToGuess(trace: string): never {
  throw new Error(`spawn ${trace} was admitted, but its record cannot be read`);
}

/** Counts a call that is refused before a spawn is even thought of, and says how often this attempt was refused. */
export function recordRefusal(
  ledger: Ledger,
  attempt: { call: string; key: string },
  refused: Refused,
): number {
  let times = 1;
  ledger.updateSession((state) => {
    const noted = noteRefusal(state, attempt, refused);
    times = noted.times;
    return noted.session === state ? null : noted.session;
  });
  return times;
}
