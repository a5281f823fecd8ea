import { type Judged, judgeBatch, nearLimits } from "../guard/budget.ts";
import { softCapNote } from "../guard/session-tokens.ts";
import { endSpawn } from "../ledger/ending.ts";
import { forgetLaunches } from "../ledger/launches.ts";
import { tokensUsed } from "../ledger/meter.ts";
import { isJson } from "../ledger/shape.ts";
import type { SpawnRecord } from "../ledger/spawn-record.ts";
import type { Answer } from "./answer.ts";
import type { HookContext } from "./hook-context.ts";
import type { HookEvent } from "./hook-event.ts";
import { silentOnError } from "./on-error.ts";
import type { Hook } from "./run-hook.ts";
import { metered, spawnOfEvent } from "./subagent.ts";

/** A response's calls are all done: they are counted, and what was admitted but never started is given back. */
export const hook: Hook = {
  event: "PostToolBatch",
  handle: (event, context) => {
    const spawn = spawnOfEvent(event, context);
    cancelUnstarted(spawn?.trace ?? null, context);
    return spawn === null ? {} : count(spawn, event, context);
  },
  onError: silentOnError,
};

/**
 * The host runs this after every PostToolUse of the response (measured), so an admitted spawn of this caller that
 * nobody was bound to was cancelled: another plugin or a permission rule refused the call, or the person did.
 */
function cancelUnstarted(caller: string | null, { ledger, now }: HookContext): void {
  const state = ledger.session();
  for (const [trace, slot] of Object.entries(state?.running ?? {})) {
    if (slot.call === null || slot.agent !== null || slot.parent !== caller) continue;
    endSpawn(ledger, trace, "cancelled", "the call has no result of its own", now);
  }
  forgetLaunches(ledger, (launch) => launch.tool === "Skill" && launch.parent === caller);
}

function count(spawn: SpawnRecord, event: HookEvent, context: HookContext): Answer {
  const { ledger, policy, now } = context;
  let judged: Judged = { meter: spawn.meter, refused: null, halt: false };
  let note: string | null = null;
  const counted = ledger.updateRecord(spawn.trace, (record) => {
    const current = metered(record ?? spawn, context);
    judged = judgeBatch(current, callsIn(event), policy, now);
    const near = nearLimits({ ...current, meter: judged.meter }, policy, now);
    note = judged.refused?.reason ?? near.note;
    return { ...current, meter: near.meter, seenAt: Math.max(current.seenAt, now) };
  });
  const after = counted ?? spawn;
  const message = reportTokens(after, context);
  if (judged.halt) endSpawn(ledger, after.trace, "budget_exhausted", after.meter.exhausted, now);
  return {
    ...(note === null ? {} : judged.halt ? { halt: note } : { context: note }),
    ...(message === null ? {} : { message }),
  };
}

/** Brings the session's sum up to date, once a response, and says what the person is to be told of it. */
function reportTokens({ trace, meter }: SpawnRecord, { ledger, policy }: HookContext): string | null {
  const used = Math.max(0, tokensUsed(meter, false).session - meter.reported);
  let message: string | null = null;
  ledger.updateSession((state) => {
    message = null;
    const slot = state.running[trace];
    if (slot === undefined || slot.spent >= used) return null;
    const running = { ...state.running, [trace]: { ...slot, spent: used } };
    const { session, note } = softCapNote({ ...state, running }, policy);
    message = note;
    return session;
  });
  return message;
}

/** Every call of the response, those included that failed before PreToolUse. */
function callsIn({ raw }: HookEvent): string[] {
  const calls = Array.isArray(raw.tool_calls) ? raw.tool_calls : [];
  return calls.flatMap((call) =>
    isJson(call) && typeof call.tool_use_id === "string" ? [call.tool_use_id] : [],
  );
}
