import { isSubset, sameSet } from "../acs/capability.ts";
import { capabilitiesOf } from "../acs/rule-capabilities.ts";
import type { SessionState } from "../ledger/session-state.ts";
import type { Policy } from "../policy/policy-keys.ts";
import { splitAtCommas } from "./tools/comma-list.ts";

/** How a spawn's intent relates to its parent's (ACS v0.1.0, steps/subagentStart). */
export const INTENT_DERIVATIONS = ["inherit_full", "inherit_subset", "derived_from_parent", "fresh"] as const;
export type IntentDerivation = (typeof INTENT_DERIVATIONS)[number];

/** Tightest first (ACS v0.1.0, Intent.scope_mode). */
export const SCOPE_MODES = ["strict", "moderate", "permissive"] as const;
export type ScopeMode = (typeof SCOPE_MODES)[number];

/** Who wrote the payload of a spawn, as far as its intent goes. */
export type IntentSource = "person" | "caller" | "guard";

/**
 * How a spawn's intent comes from its parent's: a person's own payload is fresh, a caller's is derived, and of one
 * that the guard attached the parent's whole set is inherit_full, anything less inherit_subset (DESIGN "Audit").
 * Sets are tool rules; a ban more or less is not the whole set.
 */
export function deriveIntent(source: IntentSource, parent: IntentSet, child: IntentSet): IntentDerivation {
  if (source === "person") return "fresh";
  if (source === "caller") return "derived_from_parent";
  const whole =
    sameSet(capabilitiesOf(parent.rules), capabilitiesOf(child.rules)) &&
    child.banned.every((rule) => parent.banned.includes(rule)) &&
    parent.banned.every((rule) => child.banned.includes(rule));
  return whole ? "inherit_full" : "inherit_subset";
}

/** Tool rules, and those that are taken away from them. */
export type IntentSet = { rules: readonly string[]; banned: readonly string[] };

/** Whether a spawn's intent lies within its parent's, by the documented rule of src/acs/capability.ts. */
export function isWithinIntent(parent: readonly string[], child: readonly string[]): boolean {
  return isSubset(capabilitiesOf(parent), capabilitiesOf(child));
}

/** The tool rules of a session's intent: what the policy said when it began, and nothing later (ACS v0.1.0, Intent). */
export function sessionIntent(session: SessionState | null, { session_intent }: Policy): string[] {
  return splitAtCommas(session?.intent ?? session_intent);
}

/**
 * How strictly a session holds its spawns to their payloads: permissive lets spawns without one have one, moderate
 * refuses them, strict refuses unknown roles as well.
 */
export function sessionScope({ payload_mode, unknown_roles }: Policy): ScopeMode {
  if (payload_mode !== "require") return "permissive";
  return unknown_roles === "deny" ? "strict" : "moderate";
}

/** A spawn whose caller gave the payload is bound to it at once; none is looser than its parent. */
export function childScope(parent: ScopeMode, source: IntentSource): ScopeMode {
  const own: ScopeMode = source === "guard" ? "permissive" : "moderate";
  return SCOPE_MODES.indexOf(own) < SCOPE_MODES.indexOf(parent) ? own : parent;
}
