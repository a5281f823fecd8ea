import type { SessionState } from "../ledger/session-state.ts";
import type { Budget } from "../payload/spawn-payload.ts";
import { type Refused, reasons } from "./reasons.ts";
import type { Caller } from "./spawn-request.ts";

/** The payload schema's minima: a budget below them is no budget. */
const MIN_INPUT_TOKENS = 100;
const MIN_TIMEOUT_MS = 30_000;

/**
 * A child's budget within what its parent has left: input tokens less what the parent's other children hold in
 * reserve, and the deadline (DESIGN "Lineage" 6). A child that may use `factor` times its budget gets so little
 * that even this fits, or each level would hand on more than it has. Refused only where less than the schema's
 * minimum would fit.
 */
export function withinParent(
  budget: Budget,
  factor: number,
  caller: Caller,
  session: SessionState,
): Budget | Refused {
  if (caller.kind === "main") return budget;
  const reserved = Object.values(session.running)
    .filter((slot) => slot.parent === caller.trace)
    .reduce((sum, slot) => sum + Math.max(0, slot.reserved - slot.spent), 0);
  const tokens = Math.floor(caller.left.inputTokens - reserved);
  const time = Math.floor(caller.left.timeMs);
  if (tokens < MIN_INPUT_TOKENS * factor) {
    return reasons.overParent(
      `${Math.max(0, tokens)} input tokens are left to hand on, and a spawn needs ${MIN_INPUT_TOKENS * factor}`,
    );
  }
  if (time < MIN_TIMEOUT_MS * factor) {
    return reasons.overParent(
      `${Math.max(0, Math.floor(time / 1000))} s are left, and a spawn needs ${(MIN_TIMEOUT_MS * factor) / 1000} s`,
    );
  }
  return {
    ...budget,
    max_input_tokens: Math.min(budget.max_input_tokens, Math.floor(tokens / factor)),
    timeout_ms: Math.min(budget.timeout_ms, Math.floor(time / factor)),
  };
}
