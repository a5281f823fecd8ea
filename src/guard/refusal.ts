import { MAX_REFUSALS, MAX_REFUSED_CALLS, type Refusal, type SessionState } from "../ledger/session-state.ts";
import type { Refused } from "./reasons.ts";

/**
 * The session with one more refused call, and how often this attempt has been refused. Refusals are counted apart
 * from admissions; the same attempt again is one entry, and the same call again changes nothing (cases 56, 65).
 */
export function noteRefusal(
  session: SessionState,
  { call, key }: { call: string; key: string },
  { code }: Refused,
): { session: SessionState; times: number } {
  const before = session.refusals.find((earlier) => earlier.key === key && earlier.code === code);
  if (before?.calls.includes(call)) return { session, times: before.times };
  const entry: Refusal = {
    key,
    code,
    calls: [...(before?.calls ?? []), call].slice(-MAX_REFUSED_CALLS),
    times: (before?.times ?? 0) + 1,
  };
  const others = session.refusals.filter((earlier) => earlier !== before);
  return {
    session: {
      ...session,
      refused: session.refused + 1,
      refusals: [...others, entry].slice(-MAX_REFUSALS),
    },
    times: entry.times,
  };
}
