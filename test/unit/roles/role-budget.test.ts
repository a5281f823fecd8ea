import { describe, expect, it } from "vitest";
import type { Role, RoleType } from "../../../src/roles/role.ts";
import {
  defaultBudget,
  PLUGIN_ROLE_TYPES,
  ROLE_TYPE_BUDGETS,
  roleType,
} from "../../../src/roles/role-budget.ts";
import { role } from "./agent-text.ts";

describe("roleType", () => {
  it.each<[string, Role["origin"], RoleType]>([
    ["frontend-engineer", "plugin", "engineer"],
    ["prompt-engineer", "plugin", "engineer"],
    ["system-architect", "plugin", "architect"],
    ["devops-architect", "plugin", "architect"],
    ["product-manager", "plugin", "product"],
    ["marketing-strategist", "plugin", "product"],
    ["content-writer", "plugin", "product"],
    ["content-designer", "plugin", "product"],
    ["ui-ux-designer", "plugin", "product"],
    ["feature-design-lead", "plugin", "lead"],
    ["eval-judge", "plugin", "judge"],
    ["memory-curator", "plugin", "judge"],
    ["Explore", "builtin", "other"],
    ["general-purpose", "builtin", "other"],
    ["frontend-engineer", "project", "other"],
    ["frontend-engineer", "user", "other"],
    ["rocket-engineer", "plugin", "other"],
    ["content-farmer", "plugin", "other"],
    ["Frontend-Engineer", "plugin", "other"],
    ["constructor", "plugin", "other"],
  ])("%s of the %s: %s", (name, origin, type) => {
    expect(roleType({ name, origin })).toBe(type);
  });

  it("knows 26 roles", () => {
    const counts = new Map<RoleType, number>();
    for (const type of PLUGIN_ROLE_TYPES.values()) counts.set(type, (counts.get(type) ?? 0) + 1);
    expect(Object.fromEntries(counts)).toEqual({ engineer: 14, architect: 4, product: 5, lead: 1, judge: 2 });
    expect(PLUGIN_ROLE_TYPES.size).toBe(26);
  });
});

it("holds the numbers of the role-type table", () => {
  expect(
    Object.entries(ROLE_TYPE_BUDGETS).map(([type, b]) => [
      type,
      b.max_input_tokens,
      b.max_tool_calls,
      b.timeout_ms,
    ]),
  ).toEqual([
    ["engineer", 150_000, 100, 1_800_000],
    ["architect", 120_000, 60, 1_200_000],
    ["product", 100_000, 60, 1_200_000],
    ["lead", 150_000, 60, 3_600_000],
    ["judge", 50_000, 30, 600_000],
    ["other", 150_000, 100, 1_800_000],
  ]);
});

describe("defaultBudget", () => {
  it("joins the role's own limits with its type's", () => {
    expect(defaultBudget(role({ name: "eval-judge", maxTurns: 5, maxOutputTokens: 600 }))).toEqual({
      max_input_tokens: 50_000,
      max_output_tokens: 600,
      max_tool_calls: 30,
      max_turns: 5,
      timeout_ms: 600_000,
      retry_budget: 1,
    });
  });

  it.each<[string, number | null, number | null, number, number]>([
    ["nothing said", null, null, 50, 2000],
    ["the least", 1, 50, 1, 50],
    ["the most", 50, 8192, 50, 8192],
    ["above the schema", 51, 8193, 50, 8192],
    ["below the schema", 0, 49, 1, 50],
  ])("%s: turns %s and output %s become %s and %s", (_what, maxTurns, maxOutputTokens, turns, output) => {
    expect(defaultBudget(role({ name: "x", origin: "project", maxTurns, maxOutputTokens }))).toMatchObject({
      max_turns: turns,
      max_output_tokens: output,
      max_input_tokens: 150_000,
    });
  });
});
