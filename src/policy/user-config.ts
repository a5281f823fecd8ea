import { POLICY_KEYS, POLICY_RULES, type PolicyRule } from "./policy-keys.ts";

/** The manifest's `userConfig`, as the host wants it (measured on 2.1.332: unknown members are refused). */
export function userConfig(): Record<string, unknown> {
  return Object.fromEntries(POLICY_KEYS.map((key) => [key, option(key, POLICY_RULES[key])]));
}

function option(key: string, rule: PolicyRule): Record<string, unknown> {
  const title = key.replaceAll("_", " ");
  const words = {
    title: title.charAt(0).toUpperCase() + title.slice(1),
    description: sentence(rule.meaning),
  };
  if (rule.kind === "choice") {
    return { type: "string", ...words, default: rule.default, options: rule.choices };
  }
  if (rule.kind === "text") return { type: "string", ...words, default: rule.default };
  const max = rule.max === Number.MAX_SAFE_INTEGER ? {} : { max: rule.max };
  return { type: "number", ...words, default: rule.default, min: rule.min, ...max };
}

function sentence(words: string): string {
  return `${words.charAt(0).toUpperCase()}${words.slice(1)}.`;
}
