import type { Budget } from "../payload/spawn-payload.ts";
import type { Role, RoleType } from "./role.ts";
import { ROLE_TYPE_ENTRIES } from "./role-table.generated.js";

/** The plugin's own roles by type, out of the role-selection table. A name alone makes no type: see roleType. */
export const PLUGIN_ROLE_TYPES: ReadonlyMap<string, RoleType> = new Map(ROLE_TYPE_ENTRIES);

/** What a role's type decides; turns and output come from the role's own file. */
export type RoleTypeBudget = Pick<Budget, "max_input_tokens" | "max_tool_calls" | "timeout_ms">;

/**
 * Input tokens, tool calls and running time (milliseconds) by role type. The one place of these numbers;
 * source: DESIGN, "Payload", role-type table.
 */
export const ROLE_TYPE_BUDGETS: Readonly<Record<RoleType, Readonly<RoleTypeBudget>>> = {
  engineer: { max_input_tokens: 150_000, max_tool_calls: 100, timeout_ms: 1_800_000 },
  architect: { max_input_tokens: 120_000, max_tool_calls: 60, timeout_ms: 1_200_000 },
  product: { max_input_tokens: 100_000, max_tool_calls: 60, timeout_ms: 1_200_000 },
  lead: { max_input_tokens: 150_000, max_tool_calls: 60, timeout_ms: 3_600_000 },
  judge: { max_input_tokens: 50_000, max_tool_calls: 30, timeout_ms: 600_000 },
  other: { max_input_tokens: 150_000, max_tool_calls: 100, timeout_ms: 1_800_000 },
};

/** For a role whose file says nothing (DESIGN, row "other"); output in tokens. */
const UNSAID = { max_output_tokens: 2000, max_turns: 50 };

/** The payload schema's bounds for the two values that an agent file sets. */
const OUTPUT_TOKENS = { min: 50, max: 8192 };
const TURNS = { min: 1, max: 50 };

/** A role's type. Only the plugin's own roles have one; somebody else's `x-engineer` is `other`. */
export function roleType(role: Pick<Role, "name" | "origin">): RoleType {
  if (role.origin !== "plugin") return "other";
  return PLUGIN_ROLE_TYPES.get(role.name) ?? "other";
}

/**
 * The budget of a spawn that asks for none: the role's own turns and output tokens, brought within the
 * schema's bounds, the rest by its type, one retry.
 */
export function defaultBudget(role: Role): Budget {
  const { max_input_tokens, max_tool_calls, timeout_ms } = ROLE_TYPE_BUDGETS[roleType(role)];
  return {
    max_input_tokens,
    max_output_tokens: within(OUTPUT_TOKENS, role.maxOutputTokens ?? UNSAID.max_output_tokens),
    max_tool_calls,
    max_turns: within(TURNS, role.maxTurns ?? UNSAID.max_turns),
    timeout_ms,
    retry_budget: 1,
  };
}

function within({ min, max }: { min: number; max: number }, value: number): number {
  return Math.min(max, Math.max(min, value));
}
