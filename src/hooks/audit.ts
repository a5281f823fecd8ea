import type { Step, Verdict } from "../acs/envelope.ts";
import {
  type Actor,
  digest,
  type IntentOfSpawn,
  type Redaction,
  rootStepId,
  type StopOutcome,
  sessionEnd,
  sessionStart,
  subagentStart,
  subagentStop,
  toolCall,
} from "../acs/receipts.ts";
import { childSession, named, rootSession, stepId } from "../acs/session-id.ts";
import { type IntentDerivation, sessionIntent, sessionScope } from "../guard/intent.ts";
import type { ReasonCode, Refused } from "../guard/reasons.ts";
import { ranMs, tokensUsed } from "../ledger/meter.ts";
import type { Json } from "../ledger/shape.ts";
import type { Outcome, SpawnRecord } from "../ledger/spawn-record.ts";
import type { Transition } from "../ledger/transition.ts";
import { type NotRecorded, notRecorded, occasionOf, record } from "./audit-chain.ts";
import type { HookContext } from "./hook-context.ts";
import type { ToolCall } from "./hook-event.ts";

/** A refused spawn, as far as it is known. */
export type RefusedSpawn = {
  refused: Refused;
  agentType: string;
  derivation: IntentDerivation;
  /** what it would have been allowed; null when nobody can tell */
  rules: readonly string[] | null;
  /** policy lets it run although the guard could not judge it */
  isLetThrough?: boolean;
};

/**
 * Records an Agent call and what was decided about it: the call's receipt, the spawn's, and for a refused one its end,
 * on the caller's chain. Throws NotRecorded.
 */
export async function auditSpawn(
  context: HookContext,
  call: ToolCall,
  caller: SpawnRecord | null,
  decision: SpawnRecord | RefusedSpawn,
): Promise<void> {
  const actor = actorOf(context, caller);
  const occasion = occasionOf(context, actor);
  const child = childSession(rootOf(context), { call: call.call, agent: null });
  const parentStep = stepId(actor.session, "steps/toolCallRequest", call.call);
  const refused = "refused" in decision ? decision.refused : null;
  const isDenied = "refused" in decision && decision.isLetThrough !== true;
  const codes = refused === null ? [] : [refused.code];
  const content = await contentOf(context);
  const verdict: Verdict =
    refused === null || !isDenied
      ? { decision: "allow", codes }
      : { decision: "deny", codes, reasoning: reasonOf(refused, content) };
  const { model } = call.input;
  const start = subagentStart(
    occasion,
    {
      key: call.call,
      childSession: child,
      parentStep,
      derivation: decision.derivation,
      intent:
        "refused" in decision
          ? askedIntent(context, decision, caller, parentStep)
          : intentOf(context, decision),
      descriptor: {
        agent: "refused" in decision ? child : decision.trace,
        name: decision.agentType,
        model: typeof model === "string" ? model : null,
      },
    },
    {
      ...verdict,
      data: "refused" in decision ? limits(context) : { ...limits(context), ...facts(decision) },
    },
  );
  const steps = [toolCall(occasion, call, verdict, content), start];
  if (refused !== null && isDenied) {
    const summary = { reason_code: refused.code };
    const stop = {
      childSession: child,
      outcome: "denied_at_spawn" as const,
      finalHash: null,
      steps: 0,
      summary,
    };
    steps.push(subagentStop(occasion, `denied:${call.call}`, stop));
  }
  record(context, actor, steps, () => rootOfChain(context, caller));
}

/** Records a call of another tool that was refused, or let through unjudged. Throws NotRecorded, and what else goes wrong. */
export async function auditCall(
  context: HookContext,
  call: ToolCall,
  caller: SpawnRecord | null,
  decision: "allow" | "deny",
  refused: Refused,
): Promise<void> {
  const actor = actorOf(context, caller);
  const content = await contentOf(context);
  const reasoning = decision === "deny" ? { reasoning: reasonOf(refused, content) } : {};
  const verdict: Verdict = { decision, codes: [refused.code], ...reasoning };
  const step = toolCall(occasionOf(context, actor), call, verdict, content);
  record(context, actor, [step], () => rootOfChain(context, caller));
}

/** Records a call that was refused: the refusal stands, whatever becomes of its receipt. */
export async function auditRefused(
  context: HookContext,
  call: ToolCall,
  caller: SpawnRecord | null,
  refused: Refused,
): Promise<void> {
  try {
    await auditCall(context, call, caller, "deny", refused);
  } catch (error) {
    context.notes.push(gapNote(notRecorded(context, error)));
  }
}

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

export function gapNote({ message }: NotRecorded): string {
  return `spawn-guard could not write its audit chain (${message}); the gap is noted and stands in the next receipt`;
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

/** A spawn that was never to run has all its calls denied. */
function standing({ barred }: SpawnRecord): Verdict {
  if (barred === null) return { decision: "allow", codes: [] };
  return { decision: "deny", codes: [barred], reasoning: `all its calls are denied (${barred})` };
}

function parentOf({ ledger }: HookContext, { parent }: SpawnRecord): SpawnRecord | null {
  return parent === null ? null : ledger.record(parent);
}

function rootOf({ event }: HookContext): string {
  return rootSession(event.sessionId);
}

function actorOf(context: HookContext, spawn: SpawnRecord | null): Actor {
  const root = rootOf(context);
  if (spawn === null) return { session: root, agent: "main", name: "claude-code" };
  return { session: childSession(root, spawn), agent: spawn.trace, name: spawn.agentType };
}

function rootOfChain(context: HookContext, spawn: SpawnRecord | null): Step {
  const occasion = occasionOf(context, actorOf(context, spawn));
  if (spawn !== null) {
    const { agent, call, depth, parent } = spawn;
    const platform = {
      agent_id: agent === null ? null : named(agent),
      tool_use_id: call === null ? null : named(call),
      trace_id: spawn.trace,
      parent_trace_id: parent,
      parent_session_id: actorOf(context, parentOf(context, spawn)).session,
      depth,
    };
    return sessionStart(occasion, intentOf(context, spawn), platform, standing(spawn));
  }
  const { source, model } = context.event.raw;
  const known = Object.entries({ source, model }).filter(([, value]) => typeof value === "string");
  const platform = { ...Object.fromEntries(known), cwd: context.event.cwd };
  const intent: IntentOfSpawn = {
    rules: sessionIntent(context.ledger.session(), context.policy),
    banned: [],
    scope: sessionScope(context.policy),
    provenance: { origin: "user_input", source: "policy session_intent" },
  };
  return sessionStart(occasion, intent, platform);
}

/** The step of the parent's chain that a spawn comes from: its call's receipt, or where there is none the first. */
function parentStepOf(context: HookContext, spawn: SpawnRecord): string {
  const { call } = spawn;
  const above = actorOf(context, parentOf(context, spawn)).session;
  return call === null ? rootStepId(above) : stepId(above, "steps/toolCallRequest", call);
}

/** The intent of a spawn, with where it truly comes from (DESIGN "Audit"). */
function intentOf(context: HookContext, spawn: SpawnRecord): IntentOfSpawn {
  const { intent: rules, disallowed: banned, scope, derivation, agentType, parent } = spawn;
  const step = parentStepOf(context, spawn);
  return { rules, banned, scope, provenance: provenanceOf(derivation, agentType, parent, step) };
}

function askedIntent(
  context: HookContext,
  { rules, derivation, agentType }: RefusedSpawn,
  caller: SpawnRecord | null,
  step: string,
): IntentOfSpawn | null {
  if (rules === null) return null;
  const scope = caller?.scope ?? sessionScope(context.policy);
  return {
    rules,
    banned: [],
    scope,
    provenance: provenanceOf(derivation, agentType, caller?.trace ?? null, step),
  };
}

function provenanceOf(
  derivation: IntentDerivation,
  agentType: string,
  parent: string | null,
  step: string,
): IntentOfSpawn["provenance"] {
  switch (derivation) {
    case "fresh":
      return { origin: "user_input", source: "/subagent-spawn" };
    case "derived_from_parent":
      return { origin: "agent_generated", source: parent ?? "main", derivedFrom: [step] };
    case "inherit_full":
    case "inherit_subset":
      return { origin: "system", source: `agent file of ${agentType}` };
  }
}

/** What a call's arguments are kept as, where the user wants more of them than sizes and hashes. */
async function contentOf({ policy }: HookContext): Promise<Redaction | null> {
  if (policy.audit_content === "off") return null;
  const { redact } = await import("../acs/redact.ts");
  return (value) => Object(redact(value));
}

/** Codes whose sentences hold limits and counts alone; others may quote what a prompt, a rule or a command says. */
const QUOTES_NOTHING: ReadonlySet<ReasonCode> = new Set<ReasonCode>([
  "depth_exceeded",
  "spawns_exhausted",
  "concurrency_exceeded",
  "children_exceeded",
  "session_tokens_exceeded",
  "budget_over_parent",
  "budget_over_cap",
  "tool_calls_exhausted",
  "turns_exhausted",
  "input_tokens_exhausted",
  "time_exhausted",
  "guard_error",
]);

/** What a refusal said, by size and hash where it may quote content that is not to be kept. */
function reasonOf({ code, reason }: Refused, content: Redaction | null): string {
  if (QUOTES_NOTHING.has(code)) return reason;
  if (content === null) return `${code}; what the caller was told: ${JSON.stringify(digest(reason))}`;
  return String(Object.values(content({ reason }))[0]);
}

function limits({ policy }: HookContext): Json {
  const { subagent_max_depth, max_spawns_per_session, max_concurrent_spawns, max_children_per_spawn } =
    policy;
  return {
    limits: { subagent_max_depth, max_spawns_per_session, max_concurrent_spawns, max_children_per_spawn },
  };
}

function facts({ trace, parent, depth, role, origin, payload }: SpawnRecord): Json {
  return {
    trace_id: trace,
    parent_trace_id: parent,
    depth,
    role: role.slice(0, 100),
    payload: origin,
    budget: payload.budget,
  };
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
