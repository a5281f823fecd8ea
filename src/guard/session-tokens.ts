import type { SessionState } from "../ledger/session-state.ts";
import type { Policy } from "../policy/policy-keys.ts";
import { type Refused, reasons } from "./reasons.ts";

const SOFT_CAP_TOLD = "session_token_soft_cap";

/** Tokens of a session's spawns: used so far, and what running ones still hold in reserve (DESIGN "Budgets"). */
export function sessionTokens(session: SessionState): { used: number; reserved: number } {
  const slots = Object.values(session.running);
  return {
    used: session.spent + slots.reduce((sum, slot) => sum + slot.spent, 0),
    reserved: slots.reduce((sum, slot) => sum + Math.max(0, slot.reserved - slot.spent), 0),
  };
}

/** Whether a spawn that sets `asked` tokens aside would go past the hard cap. */
export function overHardCap(session: SessionState, asked: number, policy: Policy): Refused | null {
  const { used, reserved } = sessionTokens(session);
  const cap = policy.session_token_hard_cap;
  const fits = used + reserved < cap && used + reserved + asked <= cap;
  return fits ? null : reasons.sessionTokens(used, reserved, asked, cap);
}

/** The session with the person told that the soft cap is passed, and what to tell them; once a session. */
export function softCapNote(
  session: SessionState,
  policy: Policy,
): { session: SessionState; note: string | null } {
  const { used } = sessionTokens(session);
  if (used < policy.session_token_soft_cap || session.told.includes(SOFT_CAP_TOLD))
    return { session, note: null };
  return {
    session: { ...session, told: [...session.told, SOFT_CAP_TOLD] },
    note: `spawn-guard: this session's subagents have used ${used} tokens, past the soft cap of ${policy.session_token_soft_cap}; at ${policy.session_token_hard_cap} no more will be started.`,
  };
}
