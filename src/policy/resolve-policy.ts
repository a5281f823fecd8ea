import { showValue } from "../payload/show-value.ts";
import { type LadderRule, POLICY_RULES, type Policy, type PolicyKey, policyOf } from "./policy-keys.ts";

/** A repository's file may hold any number of wrong keys; the person reads the first few. */
const NAMED_KEYS = 10;

/** What one place says, by policy key, as found: text from the environment, JSON values from a file. */
export type PolicySource = {
  /** for a reader: `user option`, `.claude/spawn-guard.json`, … */
  name: string;
  /** a project may only tighten what the user set (DESIGN "Policy") */
  trust: "user" | "project";
  values: Record<string, unknown>;
};

export type ResolvedPolicy = {
  policy: Policy;
  /** where each value comes from; `default` where nobody said anything that counts */
  origins: Record<PolicyKey, string>;
  /** one sentence for each value that could not be used, naming the key, the value and the bound */
  problems: string[];
};

/**
 * The policy in force: the user's values over the defaults, then tightened by the project's. A value that
 * cannot be read is a problem and counts as not given, so the default (or what is tighter) holds. Free of Node.
 */
export function resolvePolicy(sources: readonly PolicySource[]): ResolvedPolicy {
  const problems = sources.flatMap(unknownKeys);
  const origins: Partial<Record<PolicyKey, string>> = {};
  const policy = policyOf((key, rule) => {
    let value: number | string = rule.default;
    origins[key] = "default";
    for (const trust of ["user", "project"] as const) {
      for (const source of sources.filter((candidate) => candidate.trust === trust)) {
        const raw = source.values[key];
        if (raw === undefined) continue;
        if (trust === "project" && "userOnly" in rule) {
          problems.push(`${source.name}: ${key} is the user's to set and is ignored there; take it out`);
          continue;
        }
        if (rule.kind === "text") {
          // Where it is used it is looked at: what cannot be read there holds, and allows nothing.
          value = typeof raw === "string" ? raw : JSON.stringify(raw);
          origins[key] = source.name;
          continue;
        }
        const given = readValue(rule, raw);
        if (given === null) problems.push(malformed(key, raw, rule, source.name));
        else if (trust === "user" || isTighter(rule, given, value)) {
          value = given;
          origins[key] = source.name;
        }
      }
    }
    return value;
  });
  return { policy, origins: origins as Record<PolicyKey, string>, problems };
}

function unknownKeys({ name, values }: PolicySource): string[] {
  const unknown = Object.keys(values).filter((key) => !Object.hasOwn(POLICY_RULES, key));
  const named = unknown
    .slice(0, NAMED_KEYS)
    .map((key) => `${name}: ${showValue(key)} is not a policy key and is ignored`);
  const more = unknown.length - NAMED_KEYS;
  return more > 0 ? [...named, `${name}: ${more} more keys are no policy keys and are ignored`] : named;
}

function readValue(rule: LadderRule, raw: unknown): number | string | null {
  if (rule.kind === "choice") return rule.choices.find((choice) => choice === raw) ?? null;
  const value = typeof raw === "string" && /^[0-9]+$/.test(raw) ? Number(raw) : raw;
  const sound = typeof value === "number" && Number.isSafeInteger(value);
  return sound && value >= rule.min && value <= rule.max ? value : null;
}

function isTighter(rule: LadderRule, value: number | string, than: number | string): boolean {
  if (rule.kind === "number") return value < than;
  const loosestFirst: readonly (number | string)[] = rule.choices;
  return loosestFirst.indexOf(value) > loosestFirst.indexOf(than);
}

function malformed(key: PolicyKey, raw: unknown, rule: LadderRule, source: string): string {
  // JSON has no word for what 1e999 is read as.
  const shown = typeof raw === "number" ? String(raw) : showValue(raw);
  const bound =
    rule.kind === "choice"
      ? `one of ${rule.choices.join(", ")}`
      : rule.max === Number.MAX_SAFE_INTEGER
        ? `a whole number of at least ${rule.min}`
        : `a whole number from ${rule.min} to ${rule.max}`;
  return `${source}: ${key} is ${shown}; it must be ${bound}. It is ignored: mend it there`;
}
