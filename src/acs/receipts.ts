import type { IntentDerivation } from "../guard/intent.ts";
import type { Json } from "../ledger/shape.ts";
import { VERSION } from "../version.ts";
import { digest } from "./digest.ts";
import {
  ACS_VERSION,
  cut,
  MAX_CONTENT,
  MAX_NAME,
  type Metadata,
  type Step,
  type StepMethod,
  type Verdict,
} from "./envelope.ts";
import { type IntentOfSpawn, intentJson, provenanceJson } from "./intent-json.ts";
import { named, stepId } from "./session-id.ts";

/** Receipts are made by these rules; a change of any formula gets another number (case 124). */
const FORMAT = 1;
const MAX_PATH = 1_000;
const MAX_ARGUMENTS = 32;
const MAX_ALL_CONTENT = 12_000;

/** Whose chain a step stands on. */
export type Actor = {
  /** the chain's ACS session id */
  session: string;
  /** `main`, or the spawn's trace id */
  agent: string;
  /** the agent type */
  name: string;
};

export type Occasion = {
  actor: Actor;
  /** milliseconds since the epoch */
  now: number;
  /** more members of metadata.spawn_guard */
  facts?: Json;
};

const ALLOWED: Verdict = { decision: "allow", codes: [] };

/** The first step of every chain. */
export function sessionStart(
  occasion: Occasion,
  intent: IntentOfSpawn,
  platform: Json,
  verdict: Verdict = ALLOWED,
): Step {
  const payload = {
    policy_mode: intent.scope,
    intent: intentJson(occasion.actor.session, intent),
    platform_context: Object.fromEntries(
      Object.entries(platform).map(([name, value]) => [
        name,
        typeof value === "string" ? cut(value, MAX_PATH) : value,
      ]),
    ),
  };
  return step(occasion, "steps/sessionStart", "root", payload, verdict);
}

/** The step id of a chain's first step. */
export function rootStepId(session: string): string {
  return stepId(session, "steps/sessionStart", "root");
}

/** What is kept of content that is to be kept: it without secrets. */
export type Redaction = (value: object) => object;

/**
 * A tool call that was decided about. Arguments are their sizes and hashes; `content` gives them as they are to be
 * kept, where the user wants them kept.
 */
export function toolCall(
  occasion: Occasion,
  { tool, call, input }: { tool: string; call: string; input: Json },
  verdict: Verdict,
  content: Redaction | null,
): Step {
  const { session } = occasion.actor;
  const all = Object.keys(input);
  const names = all.slice(0, MAX_ARGUMENTS);
  const rest = all.slice(MAX_ARGUMENTS).map((name) => [name, input[name]]);
  const more = rest.length === 0 ? {} : { arguments: all.length, rest: digest(rest) };
  const facts = { ...occasion.facts, tool_use_id: named(call), ...more };
  let room = MAX_ALL_CONTENT;
  const kept = names.map((name) => [
    cut(name, MAX_NAME),
    {
      value: content === null ? digest(input[name]) : { ...digest(input[name]), content: fitting(name) },
      provenance: provenanceJson(session, `argument:${call}:${name}`, {
        origin: "agent_generated",
        source: occasion.actor.agent,
      }),
    },
  ]);
  function fitting(name: string): string {
    // a name can make its value a secret
    const [clean] = Object.values(content?.({ [name]: input[name] }) ?? {});
    const text = shorten(clean, Math.min(MAX_CONTENT, room));
    room -= text.length;
    return text;
  }
  return step(
    { ...occasion, facts },
    "steps/toolCallRequest",
    call,
    { tool: { name: cut(tool, MAX_NAME), provider: "claude-code" }, arguments: Object.fromEntries(kept) },
    verdict,
  );
}

export type SpawnStep = {
  /** what makes this step another one than an earlier one of the same spawn */
  key: string;
  childSession: string;
  parentStep: string;
  derivation: IntentDerivation;
  intent: IntentOfSpawn | null;
  descriptor: { agent: string; name: string; model: string | null };
};

/** A spawn that was decided about, on its parent's chain. */
export function subagentStart(occasion: Occasion, spawn: SpawnStep, verdict: Verdict): Step {
  const { session } = occasion.actor;
  const { agent, name, model } = spawn.descriptor;
  return step(
    occasion,
    "steps/subagentStart",
    spawn.key,
    {
      subagent_session_id: spawn.childSession,
      parent_session_id: session,
      parent_step_id: spawn.parentStep,
      intent_derivation: spawn.derivation,
      ...(spawn.intent === null ? {} : { subagent_intent: intentJson(spawn.childSession, spawn.intent) }),
      subagent_descriptor: {
        agent_id: cut(agent, MAX_NAME),
        agent_name: cut(name, MAX_NAME),
        ...(model === null ? {} : { model_id: cut(model, MAX_NAME) }),
      },
    },
    verdict,
  );
}

export type StopOutcome = "completed" | "failed" | "cancelled" | "timeout" | "denied_at_spawn";

/** A spawn's end on its parent's chain; `finalHash` is its own chain's last, where it has one. */
export function subagentStop(
  occasion: Occasion,
  key: string,
  stop: {
    childSession: string;
    outcome: StopOutcome;
    finalHash: string | null;
    steps: number;
    summary: Json;
  },
): Step {
  return step(occasion, "steps/subagentStop", key, {
    subagent_session_id: stop.childSession,
    outcome: stop.outcome,
    ...(stop.finalHash === null ? {} : { final_chain_hash: stop.finalHash }),
    summary: stop.summary,
    subagent_step_count: stop.steps,
  });
}

export function sessionEnd(occasion: Occasion, key: string, payload: Json): Step {
  return step(occasion, "steps/sessionEnd", key, payload);
}

function step(
  { actor, now, facts }: Occasion,
  method: StepMethod,
  key: string,
  payload: Json,
  verdict: Verdict = ALLOWED,
): Step {
  const id = stepId(actor.session, method, key);
  const metadata: Metadata = {
    agent_id: actor.agent,
    agent_name: cut(actor.name, MAX_NAME),
    session_id: actor.session,
    platform: "claude-code",
    spawn_guard: { version: VERSION, format: FORMAT, ...facts },
  };
  const sound = wellFormed({ metadata, payload, verdict });
  return {
    request: {
      jsonrpc: "2.0",
      method,
      id,
      params: {
        acs_version: ACS_VERSION,
        request_id: id,
        timestamp: new Date(now).toISOString(),
        metadata: sound.metadata,
        payload: sound.payload,
      },
    },
    verdict: sound.verdict,
  };
}

const HALF_PAIR = /(?<!\\)((?:\\\\)*)\\u[dD][89a-fA-F][0-9a-fA-F]{2}/g;

/** RFC 8785 has no bytes for half a surrogate pair; a model can write one anywhere. */
function wellFormed<T extends object>(value: T): T {
  const text = JSON.stringify(value);
  const sound = text.replace(HALF_PAIR, "$1\uFFFD");
  return sound === text ? value : JSON.parse(sound);
}

function shorten(value: unknown, length: number): string {
  return cut(typeof value === "string" ? value : (JSON.stringify(value) ?? ""), length);
}
