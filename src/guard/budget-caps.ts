import type { Budget, FieldProblem } from "../payload/spawn-payload.ts";
import type { Policy } from "../policy/policy-keys.ts";

/** What a caller's payload asks for beyond the policy's `max_budget_*`: a payload in a prompt may be injected. */
export function overCaps(budget: Budget, policy: Policy): FieldProblem[] {
  const caps = [
    ["max_input_tokens", policy.max_budget_input_tokens],
    ["max_output_tokens", policy.max_budget_output_tokens],
    ["max_tool_calls", policy.max_budget_tool_calls],
    ["max_turns", policy.max_budget_turns],
    ["timeout_ms", policy.max_budget_timeout_ms],
  ] as const;
  return caps
    .filter(([field, cap]) => budget[field] > cap)
    .map(([field, cap]) => ({
      field: `budget.${field}`,
      problem: `is ${budget[field]}; at most ${cap} by policy`,
    }));
}
