import type { Step, Verdict } from "../acs/envelope.ts";
import type { IntentOfSpawn } from "../acs/intent-json.ts";
import { type Actor, rootStepId, sessionStart } from "../acs/receipts.ts";
import { childSession, named, rootSession, stepId } from "../acs/session-id.ts";
import { type IntentDerivation, sessionIntent, sessionScope } from "../guard/intent.ts";
import type { Json } from "../ledger/shape.ts";
import type { SpawnRecord } from "../ledger/spawn-record.ts";
import { occasionOf } from "./audit-chain.ts";
import type { HookContext } from "./hook-context.ts";

/** A spawn that was never to run has all its calls denied. */
export function standing({ barred }: SpawnRecord): Verdict {
  if (barred === null) return { decision: "allow", codes: [] };
  return { decision: "deny", codes: [barred], reasoning: `all its calls are denied (${barred})` };
}

export function parentOf({ ledger }: HookContext, { parent }: SpawnRecord): SpawnRecord | null {
  return parent === null ? null : ledger.record(parent);
}

export function rootOf({ event }: HookContext): string {
  return rootSession(event.sessionId);
}

export function actorOf(context: HookContext, spawn: SpawnRecord | null): Actor {
  const root = rootOf(context);
  if (spawn === null) return { session: root, agent: "main", name: "claude-code" };
  return { session: childSession(root, spawn), agent: spawn.trace, name: spawn.agentType };
}

export function rootOfChain(context: HookContext, spawn: SpawnRecord | null): Step {
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
export function parentStepOf(context: HookContext, spawn: SpawnRecord): string {
  const { call } = spawn;
  const above = actorOf(context, parentOf(context, spawn)).session;
  return call === null ? rootStepId(above) : stepId(above, "steps/toolCallRequest", call);
}

/** The intent of a spawn, with where it truly comes from (DESIGN "Audit"). */
export function intentOf(context: HookContext, spawn: SpawnRecord): IntentOfSpawn {
  const { intent: rules, disallowed: banned, scope, derivation, agentType, parent } = spawn;
  const step = parentStepOf(context, spawn);
  return { rules, banned, scope, provenance: provenanceOf(derivation, agentType, parent, step) };
}

export function provenanceOf(
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

export function limits({ policy }: HookContext): Json {
  const { subagent_max_depth, max_spawns_per_session, max_concurrent_spawns, max_children_per_spawn } =
    policy;
  return {
    limits: { subagent_max_depth, max_spawns_per_session, max_concurrent_spawns, max_children_per_spawn },
  };
}

export function facts({ trace, parent, depth, role, origin, payload }: SpawnRecord): Json {
  return {
    trace_id: trace,
    parent_trace_id: parent,
    depth,
    role: role.slice(0, 100),
    payload: origin,
    budget: payload.budget,
  };
}
