import { digest } from "../acs/digest.ts";
import type { Step } from "../acs/envelope.ts";
import { type Actor, type StopOutcome, sessionEnd, subagentStart, subagentStop } from "../acs/receipts.ts";
import { ranMs, tokensUsed } from "../ledger/meter.ts";
import type { Json } from "../ledger/shape.ts";
import type { Outcome, SpawnRecord } from "../ledger/spawn-record.ts";
import type { Transition } from "../ledger/transition.ts";
import { gapNote, notRecorded, occasionOf, record } from "./audit-chain.ts";
import {
  actorOf,
  facts,
  intentOf,
  limits,
  parentOf,
  parentStepOf,
  rootOfChain,
  standing,
} from "./audit-spawn.ts";
import type { HookContext } from "./hook-context.ts";

/** Records what has happened to spawns while this event was handled: each is told once, by who changed it. */
export function auditTransitions(context: HookContext): void {
  for (const transition of context.ledger.transitions.splice(0)) {
    warned(context, () => auditTransition(context, transition));
  }
}

/** Opens the session's chain; one that has been opened goes on. */
export function auditSessionStart(context: HookContext): void {
  warned(context, () => record(context, actorOf(context, null), [], () => rootOfChain(context, null)));
}

/** Closes the session's chain, until it is resumed. */
export function auditSessionEnd(context: HookContext): void {
  const actor = actorOf(context, null);
  const { reason } = context.event.raw;
  const payload = typeof reason === "string" ? { reason: reason.slice(0, 100) } : {};
  // One end for each beginning, however often the event comes.
  const key = String(context.ledger.session()?.begunAt ?? 0);
  const step = sessionEnd(occasionOf(context, actor), key, payload);
  warned(context, () => record(context, actor, [step], () => rootOfChain(context, null)));
}

/** What cannot be recorded after the fact is said; there is nothing left to refuse. */
function warned(context: HookContext, write: () => void): void {
  try {
    write();
  } catch (error) {
    context.notes.push(gapNote(notRecorded(context, error)));
  }
}

function auditTransition(context: HookContext, { kind, spawn }: Transition): void {
  const parent = parentOf(context, spawn);
  const above = actorOf(context, parent);
  const own = actorOf(context, spawn);
  const rootAbove = () => rootOfChain(context, parent);
  const rootOwn = () => rootOfChain(context, spawn);
  switch (kind) {
    case "began":
      record(context, own, [], rootOwn);
      return;
    case "seen":
      record(context, own, [ending(context, spawn, own)], rootOwn);
      return;
    case "adopted":
    case "resumed":
      record(context, above, [startAgain(context, spawn, above, kind)], rootAbove);
      record(context, own, [], rootOwn);
      return;
    case "merged":
    case "ended": {
      const last = spawn.agent === null ? null : record(context, own, [ending(context, spawn, own)], rootOwn);
      const stop = subagentStop(occasionOf(context, above), `${spawn.trace}:${endKey(context, spawn)}`, {
        childSession: own.session,
        outcome: spawn.outcome === null ? "cancelled" : stopOutcome(spawn.outcome, spawn),
        finalHash: last?.entry ?? null,
        steps: last?.count ?? 0,
        summary: summary(spawn),
      });
      record(context, above, [stop], rootAbove);
    }
  }
}

function ending(context: HookContext, spawn: SpawnRecord, own: Actor): Step {
  const reason = spawn.outcome ?? "merged";
  return sessionEnd(occasionOf(context, own), endKey(context, spawn), { reason });
}

function endKey({ now }: HookContext, { endedAt }: SpawnRecord): string {
  return String(endedAt ?? now);
}

/** A spawn that was found running, or that goes on after it had ended. */
function startAgain(
  context: HookContext,
  spawn: SpawnRecord,
  above: Actor,
  kind: "adopted" | "resumed",
): Step {
  const occasion = occasionOf(context, above);
  return subagentStart(
    { ...occasion, facts: { ...occasion.facts, [kind]: true } },
    {
      key: kind === "adopted" ? spawn.trace : `${spawn.trace}:${context.now}`,
      childSession: actorOf(context, spawn).session,
      parentStep: parentStepOf(context, spawn),
      derivation: spawn.derivation,
      intent: intentOf(context, spawn),
      descriptor: { agent: spawn.trace, name: spawn.agentType, model: null },
    },
    {
      ...standing(spawn),
      data: { ...limits(context), ...facts(spawn) },
    },
  );
}

function stopOutcome(outcome: Outcome, { detail }: SpawnRecord): StopOutcome {
  switch (outcome) {
    case "completed":
      return "completed";
    case "failed":
    case "never_started":
      return "failed";
    case "timed_out":
      return "timeout";
    case "budget_exhausted":
      return detail === "time" ? "timeout" : "cancelled";
    case "stopped":
    case "turn_limit":
    case "cancelled":
    case "session_ended":
      return "cancelled";
  }
}

/** Outcomes whose detail is what the host or a model said. */
const TOLD_BY_OTHERS: ReadonlySet<Outcome | null> = new Set<Outcome | null>([
  "failed",
  "never_started",
  "stopped",
]);

function summary(spawn: SpawnRecord): Json {
  const { outcome, detail, mergedInto, meter, contract, endedAt, trace } = spawn;
  const { input, output } = tokensUsed(meter, true);
  return {
    trace_id: trace,
    outcome,
    detail: detail === null || !TOLD_BY_OTHERS.has(outcome) ? detail : digest(detail),
    merged_into: mergedInto,
    tokens: { input, output },
    tool_calls: meter.toolCalls,
    turns: meter.turns,
    running_ms: ranMs(meter, endedAt ?? 0),
    contract: contract === null ? null : { state: contract.state, status: contract.status },
  };
}
