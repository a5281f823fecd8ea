import { createHash } from "node:crypto";
import type { IntentDerivation, ScopeMode } from "../guard/intent.ts";
import type { Json } from "../ledger/shape.ts";
import { VERSION } from "../version.ts";
import type { Capability } from "./capability.ts";
import { ACS_VERSION, cut, type Metadata, type Step, type StepMethod, type Verdict } from "./envelope.ts";
import { capabilitiesOf } from "./rule-capabilities.ts";
import { named, stepId } from "./session-id.ts";

/** Receipts are made by these rules; a change of any formula gets another number (case 124). */
const FORMAT = 1;
/**
 * A line's size is bounded (case 120), whatever a model writes: these are characters, of which each has at most six
 * bytes in a line. What goes beyond is left to sizes, numbers and hashes.
 */
const MAX_NAME = 100;
const MAX_PATH = 1_000;
const MAX_ARGUMENTS = 32;
const MAX_CONTENT = 4_000;
const MAX_ALL_CONTENT = 12_000;
const MAX_CAPABILITIES = 200;
const MAX_CAPABILITY = 500;
const MAX_ALL_CAPABILITIES = 8_000;

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

export type IntentOfSpawn = {
  rules: readonly string[];
  banned: readonly string[];
  scope: ScopeMode;
  provenance: Provenance;
};

/** Where something comes from (ACS v0.1.0, provenance): the person, the system, or a model. */
export type Provenance = {
  origin: "user_input" | "system" | "agent_generated";
  source: string;
  derivedFrom?: readonly string[];
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

function intentJson(session: string, { rules, banned, scope, provenance }: IntentOfSpawn): Json {
  const all = capabilitiesOf(rules);
  const kept = fittingCapabilities(all);
  const raw = [
    ...(banned.length === 0 ? [] : [`without ${cut(banned.join(", "), MAX_CONTENT)}`]),
    ...(all.length > kept.length
      ? [`${kept.length} of ${all.length} capabilities, sha256 of all ${sha256(JSON.stringify(all))}`]
      : []),
  ].join("; ");
  return {
    ...(raw === "" ? {} : { raw }),
    parsed: kept,
    parser_provenance: provenanceJson(session, "intent", provenance),
    scope_mode: scope,
  };
}

/** The first of them, each as it is: one that was cut would stand for something else. */
function fittingCapabilities(all: readonly Capability[]): Capability[] {
  let room = MAX_ALL_CAPABILITIES;
  return all.slice(0, MAX_CAPABILITIES).filter((capability) => {
    const lengths = Object.values(capability).map((text) => text.length);
    const length = lengths.reduce((sum, one) => sum + one, 0);
    if (length > room || lengths.some((one) => one > MAX_CAPABILITY)) return false;
    room -= length;
    return true;
  });
}

function provenanceJson(session: string, what: string, { origin, source, derivedFrom }: Provenance): Json {
  return {
    provenance_id: stepId(session, "provenance", `${what}:${origin}:${source}`),
    origin,
    source_id: cut(source, MAX_NAME),
    ...(derivedFrom === undefined ? {} : { derived_from: [...derivedFrom] }),
  };
}

/** A value as its size and hash: what it was can be proven, not read. One that is nested too deep has neither. */
export function digest(value: unknown): { sha256: string; bytes: number } | { too_deep: true } {
  let text: string;
  try {
    text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  } catch {
    return { too_deep: true };
  }
  return { sha256: sha256(text), bytes: Buffer.byteLength(text, "utf8") };
}

function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}

function shorten(value: unknown, length: number): string {
  return cut(typeof value === "string" ? value : (JSON.stringify(value) ?? ""), length);
}
