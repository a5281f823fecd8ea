/**
 * Every policy value there is: its default, its bounds and which way is tighter. The one place for these
 * numbers; DESIGN "Policy" is their source. Free of Node.
 */

/** A whole number; smaller is tighter. */
export type NumberRule = { kind: "number"; default: number; min: number; max: number; meaning: string };
/** One of a few words, the loosest first. */
export type ChoiceRule = {
  kind: "choice";
  default: string;
  choices: readonly string[];
  meaning: string;
  /** a project's file cannot set it, whichever way */
  userOnly?: true;
};
/** Free text, of which nobody can say which way is tighter: a project's file cannot set it. */
export type TextRule = {
  kind: "text";
  default: string;
  meaning: string;
  userOnly: true;
};
/** What has a tighter and a looser side. */
export type LadderRule = NumberRule | ChoiceRule;
export type PolicyRule = LadderRule | TextRule;

const ANY = Number.MAX_SAFE_INTEGER;

export const POLICY_RULES = {
  subagent_max_depth: count(3, 0, ANY, "how deep spawns may nest; 0 means no spawns at all"),
  max_spawns_per_session: count(200, 0, ANY, "spawns in one session; 0 means none"),
  max_concurrent_spawns: count(20, 0, ANY, "spawns running at once in a session"),
  max_children_per_spawn: count(20, 0, ANY, "spawns made by one spawn"),
  session_token_soft_cap: count(2_000_000, 0, ANY, "tokens of a session's spawns at which you are told once"),
  session_token_hard_cap: count(
    5_000_000,
    0,
    ANY,
    "tokens of a session's spawns past which none is admitted",
  ),
  payload_mode: choice("attach", ["attach", "require"], "a spawn without a payload gets one, or is refused"),
  runaway_factor: count(3, 1, 100, "how many times its budget an attached or adopted spawn may use"),
  max_budget_input_tokens: count(
    200_000,
    0,
    200_000,
    "most input tokens that a caller's payload may ask for",
  ),
  max_budget_output_tokens: count(8192, 0, 8192, "most output tokens that a caller's payload may ask for"),
  max_budget_tool_calls: count(100, 0, 100, "most tool calls that a caller's payload may ask for"),
  max_budget_turns: count(50, 0, 50, "most turns that a caller's payload may ask for"),
  max_budget_timeout_ms: count(3_600_000, 0, 3_600_000, "longest time that a caller's payload may ask for"),
  contract_mode: choice("record", ["record", "ask"], "a bad return contract is recorded, or asked for once"),
  spawn_on_error: choice("deny", ["allow", "deny"], "what happens to a spawn that cannot be judged"),
  tool_on_error: choice(
    "allow",
    ["allow", "deny"],
    "what happens to a subagent's call that cannot be judged",
  ),
  unknown_roles: choice("allow", ["allow", "deny"], "agent types that are no known role"),
  workflow_tool: choice("allow", ["allow", "ask", "deny"], "the Workflow tool, which starts many agents"),
  orphans: choice("allow", ["allow", "deny"], "what a child may do after its parent has ended"),
  session_intent: text("*", "tool rules, with commas between them, that bound what any spawn may do"),
  audit: choice(
    "warn",
    ["warn", "require"],
    "a spawn whose decision cannot be recorded goes on with a warning, or is refused",
  ),
  audit_content: {
    ...choice(
      "off",
      ["off", "on"],
      "whether receipts hold what calls say, redacted, or sizes and hashes only",
    ),
    userOnly: true,
  },
  audit_key_file: text(
    "",
    "absolute path of a file with the key that signs receipts: 32 bytes or more, raw, hex or base64",
  ),
} satisfies Record<string, PolicyRule>;

export type PolicyKey = keyof typeof POLICY_RULES;

export const POLICY_KEYS = Object.keys(POLICY_RULES) as PolicyKey[];

/** The values in force. Tokens are tokens, times are milliseconds. */
export type Policy = { [Key in PolicyKey]: (typeof POLICY_RULES)[Key]["default"] };

export const DEFAULT_POLICY: Policy = policyOf((_, rule) => rule.default);

/** A policy made by asking for each key's value, which the rule has already been held against. */
export function policyOf(value: (key: PolicyKey, rule: PolicyRule) => number | string): Policy {
  return Object.fromEntries(POLICY_KEYS.map((key) => [key, value(key, POLICY_RULES[key])])) as Policy;
}

function count(value: number, min: number, max: number, meaning: string) {
  return { kind: "number" as const, default: value, min, max, meaning };
}

function text(value: string, meaning: string) {
  return { kind: "text" as const, default: value, meaning, userOnly: true as const };
}

function choice<C extends string>(value: NoInfer<C>, choices: readonly C[], meaning: string) {
  return { kind: "choice" as const, default: value as C, choices, meaning };
}
