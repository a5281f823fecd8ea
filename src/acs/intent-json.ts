import type { ScopeMode } from "../guard/intent.ts";
import type { Json } from "../ledger/shape.ts";
import type { Capability } from "./capability.ts";
import { sha256 } from "./digest.ts";
import { cut, MAX_CONTENT, MAX_NAME } from "./envelope.ts";
import { capabilitiesOf } from "./rule-capabilities.ts";
import { stepId } from "./session-id.ts";

/** Characters, but for the first: what goes beyond is left to a number and a hash, since a line is bounded (case 120). */
const MAX_CAPABILITIES = 200;
const MAX_CAPABILITY = 500;
const MAX_ALL_CAPABILITIES = 8_000;

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

/** An intent as ACS has it; `session` is whose it is. */
export function intentJson(session: string, { rules, banned, scope, provenance }: IntentOfSpawn): Json {
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

export function provenanceJson(
  session: string,
  what: string,
  { origin, source, derivedFrom }: Provenance,
): Json {
  return {
    provenance_id: stepId(session, "provenance", `${what}:${origin}:${source}`),
    origin,
    source_id: cut(source, MAX_NAME),
    ...(derivedFrom === undefined ? {} : { derived_from: [...derivedFrom] }),
  };
}
