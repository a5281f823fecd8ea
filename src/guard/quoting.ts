import type { ReasonCode } from "./reasons.ts";

/**
 * Whether a refusal's sentence may quote what a prompt, a rule, a command or an agent file says; the others hold limits,
 * counts and trace ids alone. A receipt keeps what may quote as size and hash while content is not to be kept.
 */
export const MAY_QUOTE: Readonly<Record<ReasonCode, boolean>> = {
  depth_exceeded: false,
  lineage_unknown: true,
  parent_mismatch: true,
  spawns_exhausted: false,
  concurrency_exceeded: false,
  children_exceeded: false,
  session_tokens_exceeded: false,
  budget_over_parent: false,
  budget_over_cap: false,
  payload_missing: true,
  payload_invalid: true,
  payload_ambiguous: false,
  role_unknown: true,
  role_mismatch: true,
  agent_ended: false,
  tool_not_allowed: true,
  intent_exceeded: true,
  tool_calls_exhausted: false,
  turns_exhausted: false,
  input_tokens_exhausted: false,
  time_exhausted: false,
  trace_reused: true,
  deny_not_enforced: false,
  record_lost: false,
  orphaned: false,
  workflow_denied: false,
  not_recorded: true,
  guard_error: false,
};
