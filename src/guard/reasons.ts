import type { LimitName } from "./budget.ts";

/**
 * The closed set of refusal codes (DESIGN "Budgets"), each with its one sentence. Texts for the model say that
 * a limit is policy, not a passing fault, because models repeat a call whose refusal sounds like an error
 * (cases 2, 65).
 */
export const REASON_CODES = [
  "depth_exceeded",
  "lineage_unknown",
  "parent_mismatch",
  "spawns_exhausted",
  "concurrency_exceeded",
  "children_exceeded",
  "session_tokens_exceeded",
  "budget_over_parent",
  "budget_over_cap",
  "payload_missing",
  "payload_invalid",
  "payload_ambiguous",
  "role_unknown",
  "role_mismatch",
  "agent_ended",
  "tool_not_allowed",
  "intent_exceeded",
  "tool_calls_exhausted",
  "turns_exhausted",
  "input_tokens_exhausted",
  "time_exhausted",
  "trace_reused",
  "deny_not_enforced",
  "record_lost",
  "orphaned",
  "workflow_denied",
  "not_recorded",
  "guard_error",
] as const;
export type ReasonCode = (typeof REASON_CODES)[number];

export type Refused = { code: ReasonCode; reason: string };

const NO_DELEGATION =
  "This is policy, not a passing fault: delegating again will not help. Do the work yourself with the tools you have.";

const RETURN_NOW = "Do not retry and do not delegate; return what you have now, with status partial.";

export const reasons = {
  depth: (depth: number, limit: number): Refused => ({
    code: "depth_exceeded",
    reason:
      limit === 0
        ? `Spawns are switched off here (subagent_max_depth is 0). ${NO_DELEGATION}`
        : `This spawn would be at depth ${depth}; the limit is ${limit} (subagent_max_depth). ${NO_DELEGATION}`,
  }),
  lineage: (why: string, limit: number): Refused => ({
    code: "lineage_unknown",
    reason: `Your place in the chain of spawns is not certain (${why}), so it counts as being at the limit of ${limit}. ${NO_DELEGATION}`,
  }),
  parentMismatch: (given: string, actual: string | null): Refused => ({
    code: "parent_mismatch",
    reason: `The payload's parent_trace_id is ${quote(given)}, but this call is made by ${actual ?? "the main thread"}. Set parent_trace_id to ${actual === null ? "null" : quote(actual)} or leave it out, and call again.`,
  }),
  spawnsExhausted: (used: number, limit: number): Refused => ({
    code: "spawns_exhausted",
    reason: `This session has made ${used} spawns; the limit is ${limit} (max_spawns_per_session). ${NO_DELEGATION}`,
  }),
  concurrency: (running: number, limit: number): Refused => ({
    code: "concurrency_exceeded",
    reason: `${running} spawns are running; at most ${limit} may run at once (max_concurrent_spawns). Wait until one has ended before you spawn again, or do the work yourself.`,
  }),
  children: (made: number, limit: number): Refused => ({
    code: "children_exceeded",
    reason: `You have made ${made} spawns; the limit is ${limit} for one spawn (max_children_per_spawn). ${NO_DELEGATION}`,
  }),
  sessionTokens: (current: number, reserved: number, asked: number, cap: number): Refused => ({
    code: "session_tokens_exceeded",
    reason: `The session's spawns have used ${current} tokens and hold ${reserved} in reserve; with ${asked} for this one that is ${current + reserved + asked}, over the cap of ${cap} (session_token_hard_cap). ${NO_DELEGATION}`,
  }),
  overCap: (problems: string): Refused => ({
    code: "budget_over_cap",
    reason: `The payload asks for more than is allowed: ${problems}. Lower it and call again.`,
  }),
  payloadMissing: (block: string): Refused => ({
    code: "payload_missing",
    reason: `This session needs a spawn payload in every Agent prompt (payload_mode is require). Add this block to the prompt, on lines of its own, and call again:\n${block}`,
  }),
  payloadInvalid: (problems: string): Refused => ({
    code: "payload_invalid",
    reason: `The prompt's <spawn_payload> cannot be used: ${problems}. Mend it, or leave the block out, and call again.`,
  }),
  payloadAmbiguous: (count: number): Refused => ({
    code: "payload_ambiguous",
    reason: `The prompt holds ${count} <spawn_payload> blocks; exactly one counts. Keep the one you mean and call again.`,
  }),
  roleUnknown: (type: string): Refused => ({
    code: "role_unknown",
    reason: `Agent type ${quote(type)} is no known role and unknown_roles is deny. Use one of the roles that spawn-guard roles lists.`,
  }),
  roleBroken: (type: string, problem: string): Refused => ({
    code: "role_unknown",
    reason: `Agent type ${quote(type)} comes from an agent file that cannot be read: ${problem}. Mend the file, or use another role.`,
  }),
  roleMismatch: (inPayload: string, asked: string): Refused => ({
    code: "role_mismatch",
    reason: `The payload is for role ${quote(inPayload)}, but the call asks for agent type ${quote(asked)}. Make them the same and call again.`,
  }),
  ranAsAnother: (admitted: string, ran: string): Refused => ({
    code: "role_mismatch",
    reason: `Agent type ${quote(admitted)} was admitted, but ${quote(ran)} was started in its place, so its calls are denied. ${RETURN_NOW}`,
  }),
  orphaned: (parent: string): Refused => ({
    code: "orphaned",
    reason: `Your parent ${parent} has ended, and orphans is deny. ${RETURN_NOW}`,
  }),
  workflowAsk: (): string =>
    "The Workflow tool starts many agents, which the guard can only take in as it finds them. Let it run? (workflow_tool is ask)",
  workflow: (): Refused => ({
    code: "workflow_denied",
    reason: `The Workflow tool starts many agents and is switched off here (workflow_tool). ${NO_DELEGATION}`,
  }),
  overParent: (what: string): Refused => ({
    code: "budget_over_parent",
    reason: `Your own budget has no room for another spawn: ${what}. ${NO_DELEGATION}`,
  }),
  nothingToHandOn: (type: string): Refused => ({
    code: "intent_exceeded",
    reason: `Agent type ${quote(type)} works with tools that you do not have, and you cannot hand on more than your own. ${NO_DELEGATION}`,
  }),
  intentUnreadable: (given: string, problem: string): Refused => ({
    code: "intent_exceeded",
    reason: `The person's session_intent is ${quote(given)}, and nobody can say what it allows: ${problem}. Tell them. ${NO_DELEGATION}`,
  }),
  beyondRights: (missing: readonly string[], whose: string, fitting: readonly string[]): Refused => ({
    code: "intent_exceeded",
    reason: `The payload's allowed_tools asks for ${missing.join(", ")}, which is not ${whose}. ${fitting.length > 0 ? `These would fit: ${fitting.join(", ")}. Keep to them and call again.` : "Nothing of it would fit."}`,
  }),
  beyondIntent: (asked: readonly string[], allowed: readonly string[]): Refused => ({
    code: "intent_exceeded",
    reason: `This spawn could do ${list(asked)}, which cannot be shown to lie within what you may do or hand on: ${list(allowed)}. ${NO_DELEGATION}`,
  }),
  notRecorded: (why: string): Refused => ({
    code: "not_recorded",
    reason: `The decision about this spawn could not be recorded (${why}), so it is refused (audit is require). Do the work yourself; the person has been told.`,
  }),
  toolNotAllowed: (why: string): Refused => ({
    code: "tool_not_allowed",
    reason: `Not allowed: ${why}. This is policy, not a passing fault: work with the tools you have, and do not delegate it.`,
  }),
  exhausted: (limit: LimitName, text: string): Refused => ({
    code: `${limit}_exhausted`,
    reason: `Budget used up: ${text}. Do not retry and do not delegate; return your contract now with status partial.`,
  }),
  nearLimit: (text: string): string =>
    `spawn-guard: your budget is nearly used up (${text}). Finish with what you have and return your contract in time.`,
  stopped: (): Refused => ({
    code: "agent_ended",
    reason: "You have been stopped, so this call is denied. Do not retry and do not delegate.",
  }),
  unreachable: (trace: string, why: string): Refused => ({
    code: "agent_ended",
    reason: `${trace} may not go on (${why}), so a message to it is refused. Work with what it has handed back.`,
  }),
  notJudged: (): Refused => ({
    code: "guard_error",
    reason:
      "spawn-guard could not judge this call, so it is refused (spawn_on_error, tool_on_error). Do the work yourself; the person has been told why.",
  }),
  traceReused: (trace: string, block: string): Refused => ({
    code: "trace_reused",
    reason: `Trace id ${quote(trace)} has already been used in this session. Build again, in a run with the next seq; without the builder use this block instead, and call again:\n${block}`,
  }),
} as const;

/** The refusal of each call of a spawn that stands beyond a limit for good; `code` as stored with the spawn. */
export function refusalOf(code: ReasonCode): Refused {
  return { code, reason: `${BARRED[code] ?? "This agent was not admitted."} ${RETURN_NOW}` };
}

const BARRED: Partial<Record<ReasonCode, string>> = {
  depth_exceeded: "You stand deeper than subagent_max_depth allows, so all your calls are denied.",
  spawns_exhausted:
    "The session had no spawn left for you (max_spawns_per_session), so all your calls are denied.",
  concurrency_exceeded: "No slot is free for you (max_concurrent_spawns), so all your calls are denied.",
  record_lost:
    "What you were admitted for is lost (its record was damaged or removed), so all your calls are denied.",
  deny_not_enforced: "The call that started you was refused, so all your calls are denied.",
};

/** A refusal as its caller reads it: the second and later identical attempts are told so, short and final (case 65). */
export function asRepeated({ code, reason }: Refused, times: number): Refused {
  if (times <= 1) return { code, reason };
  return { code, reason: `Already refused (${code}), now ${times} times. Do not try this again. ${reason}` };
}

/** A repository's agent file may list any number of rules. */
function list(rules: readonly string[]): string {
  const shown = rules.slice(0, 12).map((rule) => (rule.length > 80 ? `${rule.slice(0, 80)}…` : rule));
  return rules.length > shown.length
    ? `${shown.join(", ")} and ${rules.length - shown.length} more`
    : shown.join(", ");
}

function quote(text: string): string {
  return JSON.stringify(text.length > 120 ? `${text.slice(0, 120)}…` : text);
}
