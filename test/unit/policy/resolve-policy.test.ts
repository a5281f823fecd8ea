import { describe, expect, it } from "vitest";
import {
  DEFAULT_POLICY,
  POLICY_KEYS,
  POLICY_RULES,
  type PolicyKey,
  type PolicyRule,
} from "../../../src/policy/policy-keys.ts";
import { type PolicySource, resolvePolicy } from "../../../src/policy/resolve-policy.ts";

const user = (values: Record<string, unknown>): PolicySource => ({
  name: "user option",
  trust: "user",
  values,
});
const project = (values: Record<string, unknown>): PolicySource => ({
  name: "project file",
  trust: "project",
  values,
});

/** For each key a middle value, a tighter one and a looser one, within its bounds. */
const LADDER: { key: PolicyKey; tight: number | string; middle: number | string; loose: number | string }[] =
  POLICY_KEYS.flatMap((key) => {
    const rule: PolicyRule = POLICY_RULES[key];
    if ("userOnly" in rule) return [];
    if (rule.kind === "number") return { key, tight: rule.min, middle: rule.min + 1, loose: rule.min + 2 };
    const [loose = "", ...others] = rule.choices;
    return { key, tight: others.at(-1) ?? "", middle: others.at(-1) ?? "", loose };
  });

describe("the policy in force", () => {
  it.each([
    ["session_intent", "Read"],
    ["audit_content", "on"],
    ["audit_key_file", "/key"],
  ] as const)("takes %s from the user and from nobody else", (key, given) => {
    expect(resolvePolicy([user({ [key]: given })]).policy[key]).toBe(given);
    const { policy, problems } = resolvePolicy([project({ [key]: given })]);
    expect(policy[key]).toBe(DEFAULT_POLICY[key]);
    expect(problems).toEqual([expect.stringContaining(`${key} is the user's to set`)]);
  });

  it("is the defaults where nobody says anything", () => {
    const { policy, origins, problems } = resolvePolicy([]);
    expect(policy).toEqual(DEFAULT_POLICY);
    expect(new Set(Object.values(origins))).toEqual(new Set(["default"]));
    expect(problems).toEqual([]);
  });

  it("has the defaults that the documentation gives", () => {
    expect(DEFAULT_POLICY).toEqual({
      subagent_max_depth: 3,
      max_spawns_per_session: 200,
      max_concurrent_spawns: 20,
      max_children_per_spawn: 20,
      session_token_soft_cap: 2_000_000,
      session_token_hard_cap: 5_000_000,
      payload_mode: "attach",
      runaway_factor: 3,
      max_budget_input_tokens: 200_000,
      max_budget_output_tokens: 8192,
      max_budget_tool_calls: 100,
      max_budget_turns: 50,
      max_budget_timeout_ms: 3_600_000,
      contract_mode: "record",
      spawn_on_error: "deny",
      tool_on_error: "allow",
      unknown_roles: "allow",
      workflow_tool: "allow",
      orphans: "allow",
      session_intent: "*",
      audit: "warn",
      audit_content: "off",
      audit_key_file: "",
    });
  });

  it.each(LADDER)("takes $key from the user, tighter or looser than the default", ({ key, tight, loose }) => {
    for (const value of [tight, loose]) {
      const { policy, origins, problems } = resolvePolicy([user({ [key]: value })]);
      expect(policy[key]).toBe(value);
      expect(origins[key]).toBe("user option");
      expect(problems).toEqual([]);
    }
  });

  it.each(LADDER)("lets a project tighten $key", ({ key, tight, loose }) => {
    const { policy, origins, problems } = resolvePolicy([user({ [key]: loose }), project({ [key]: tight })]);
    expect(policy[key]).toBe(tight);
    expect(origins[key]).toBe("project file");
    expect(problems).toEqual([]);
  });

  it.each(LADDER)("lets no project widen $key", ({ key, tight, loose }) => {
    const { policy, origins } = resolvePolicy([project({ [key]: loose }), user({ [key]: tight })]);
    expect(policy[key]).toBe(tight);
    expect(origins[key]).toBe("user option");
  });

  it.each(LADDER)("lets no project widen $key beyond its default", ({ key }) => {
    const rule: PolicyRule = POLICY_RULES[key];
    if (rule.kind === "text") throw new Error(`${key} has no order`);
    const loosest = rule.kind === "number" ? rule.max : (rule.choices[0] ?? "");
    expect(resolvePolicy([project({ [key]: loosest })]).policy[key]).toBe(DEFAULT_POLICY[key]);
  });

  it("of two projects' words takes the tighter one, in either order", () => {
    for (const values of [
      [1, 2],
      [2, 1],
    ]) {
      const sources = values.map((subagent_max_depth) => project({ subagent_max_depth }));
      expect(resolvePolicy(sources).policy.subagent_max_depth).toBe(1);
    }
  });
});

describe("a number", () => {
  it.each([
    ["0", 0],
    [0, 0],
    ["2", 2],
    ["007", 7],
    [2, 2],
  ])("is read from %j", (given, value) => {
    expect(resolvePolicy([user({ subagent_max_depth: given })]).policy.subagent_max_depth).toBe(value);
  });

  const malformed: [unknown, string][] = [
    [-1, "-1"],
    ["-1", '"-1"'],
    [-50, "-50"],
    [Number.NEGATIVE_INFINITY, "-Infinity"],
    [Number("1e999"), "Infinity"],
    [Number.NaN, "NaN"],
    ["1e999", '"1e999"'],
    ["1e1", '"1e1"'],
    ["0x10", '"0x10"'],
    ["Infinity", '"Infinity"'],
    ["abc", '"abc"'],
    ["", '""'],
    [" 3", '" 3"'],
    ["3 ", '"3 "'],
    ["+3", '"+3"'],
    ["٣", '"٣"'],
    ["1.5", '"1.5"'],
    [1.5, "1.5"],
    [2 ** 53, "9007199254740992"],
    ["99999999999999999999", '"99999999999999999999"'],
    [null, "null"],
    [true, "true"],
    [[3], "[3]"],
    [{ value: 3 }, '{"value":3}'],
  ];
  it.each(malformed)("is not read from %j: named, and the default holds", (given, shown) => {
    const { policy, origins, problems } = resolvePolicy([user({ subagent_max_depth: given })]);
    expect(policy.subagent_max_depth).toBe(3);
    expect(origins.subagent_max_depth).toBe("default");
    expect(problems).toEqual([
      `user option: subagent_max_depth is ${shown}; it must be a whole number of at least 0. It is ignored: mend it there`,
    ]);
  });

  it.each(malformed)("is not read from %j: the tighter of the others holds", (given) => {
    const sources = [user({ subagent_max_depth: given }), project({ subagent_max_depth: 1 })];
    expect(resolvePolicy(sources).policy.subagent_max_depth).toBe(1);
    const other = [user({ subagent_max_depth: 1 }), project({ subagent_max_depth: given })];
    expect(resolvePolicy(other).policy.subagent_max_depth).toBe(1);
  });

  it.each([
    ["runaway_factor", 0, "from 1 to 100"],
    ["runaway_factor", 101, "from 1 to 100"],
    ["max_budget_turns", 51, "from 0 to 50"],
    ["max_budget_timeout_ms", 3_600_001, "from 0 to 3600000"],
  ] as const)("beyond its bounds is refused: %s %i", (key, value, bound) => {
    const { policy, problems } = resolvePolicy([user({ [key]: value })]);
    expect(policy[key]).toBe(DEFAULT_POLICY[key]);
    expect(problems[0]).toContain(`it must be a whole number ${bound}`);
  });
});

describe("a choice", () => {
  it.each(["", "Deny", "deny ", "off", null, true, 0, ["deny"], { toString: "deny" }])(
    "is not read from %j: named, and the default holds",
    (given) => {
      const { policy, problems } = resolvePolicy([user({ spawn_on_error: given })]);
      expect(policy.spawn_on_error).toBe("deny");
      expect(problems).toEqual([
        expect.stringMatching(/^user option: spawn_on_error is .*one of allow, deny\./),
      ]);
    },
  );
});

describe("a text", () => {
  it.each<[unknown, string]>([
    ["Read, Bash(git log:*)", "Read, Bash(git log:*)"],
    ["Bash(git", "Bash(git"],
    [",", ","],
    [["Read"], '["Read"]'],
    [3, "3"],
  ])("is kept as it is given, whatever can be made of it: %j", (given, kept) => {
    const { policy, origins, problems } = resolvePolicy([user({ session_intent: given })]);
    expect(policy.session_intent).toBe(kept);
    expect(origins.session_intent).toBe("user option");
    expect(problems).toEqual([]);
  });
});

describe("keys that are none", () => {
  it("are named, each with its place", () => {
    const { policy, problems } = resolvePolicy([user({ max_depth: 1 }), project({ SUBAGENT_MAX_DEPTH: 1 })]);
    expect(policy).toEqual(DEFAULT_POLICY);
    expect(problems).toEqual([
      'user option: "max_depth" is not a policy key and is ignored',
      'project file: "SUBAGENT_MAX_DEPTH" is not a policy key and is ignored',
    ]);
  });

  it.each(["__proto__", "constructor", "toString", "hasOwnProperty"])("do no harm: %s", (key) => {
    const values = JSON.parse(`{"${key}": {"subagent_max_depth": 0, "payload_mode": "require"}}`);
    const { policy, problems } = resolvePolicy([user(values), project(values)]);
    expect(policy).toEqual(DEFAULT_POLICY);
    expect(problems).toHaveLength(2);
    expect({}).not.toHaveProperty("subagent_max_depth");
  });

  it("are named up to ten, however many a repository writes, each on one short line", () => {
    const many = Object.fromEntries(
      Array.from({ length: 5000 }, (_, index) => [`key ${index}\n`.repeat(99), 1]),
    );
    const { problems } = resolvePolicy([project(many)]);
    expect(problems).toHaveLength(11);
    expect(problems.at(-1)).toContain("4990 more keys");
    for (const problem of problems) {
      expect(problem.length).toBeLessThan(200);
      expect(problem).not.toContain("\n");
    }
  });
});
