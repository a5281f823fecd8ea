import { digest } from "../acs/digest.ts";
import type { Verdict } from "../acs/envelope.ts";
import type { IntentOfSpawn } from "../acs/intent-json.ts";
import { type Redaction, subagentStart, subagentStop, toolCall } from "../acs/receipts.ts";
import { childSession, stepId } from "../acs/session-id.ts";
import { type IntentDerivation, sessionScope } from "../guard/intent.ts";
import { MAY_QUOTE } from "../guard/quoting.ts";
import type { Refused } from "../guard/reasons.ts";
import type { SpawnRecord } from "../ledger/spawn-record.ts";
import { gapNote, notRecorded, occasionOf, record } from "./audit-chain.ts";
import { actorOf, facts, intentOf, limits, provenanceOf, rootOf, rootOfChain } from "./audit-spawn.ts";
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

/** What a call's arguments are kept as, where the user wants more of them than sizes and hashes. */
async function contentOf({ policy }: HookContext): Promise<Redaction | null> {
  if (policy.audit_content === "off") return null;
  const { redact } = await import("../acs/redact.ts");
  return (value) => Object(redact(value));
}

/** What a refusal said, by size and hash where it may quote content that is not to be kept. */
function reasonOf({ code, reason }: Refused, content: Redaction | null): string {
  if (!MAY_QUOTE[code]) return reason;
  if (content === null) return `${code}; what the caller was told: ${JSON.stringify(digest(reason))}`;
  return String(Object.values(content({ reason }))[0]);
}
