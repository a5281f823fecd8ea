import { formatProblems } from "../payload/format-problems.ts";
import type { FieldProblem } from "../payload/spawn-payload.ts";

/** payload field → option and JSON name of the argument that sets it */
const ARGUMENTS: Record<string, { options: string; json: string }> = {
  goal: { options: "--task", json: "task" },
  stack: { options: "--stack", json: "stack" },
  constraints: { options: "--constraint", json: "constraints" },
  parent_trace_id: { options: "--parent-trace-id", json: "parent_trace_id" },
  state_slice: { options: "--state", json: "state" },
  untrusted_inputs: { options: "--untrusted", json: "untrusted" },
  "budget.max_input_tokens": { options: "--max-tokens", json: "max_tokens" },
  "budget.max_output_tokens": { options: "--max-output", json: "max_output" },
  "budget.max_tool_calls": { options: "--max-tool-calls", json: "max_tool_calls" },
  "budget.max_turns": { options: "--max-turns", json: "max_turns" },
  "budget.timeout_ms": { options: "--timeout-ms", json: "timeout_ms" },
};

/** The problems as lines, each led by the argument to change: `--task: goal has 5 characters; …`. */
export function nameArguments(problems: readonly FieldProblem[], style: "options" | "json"): string {
  return formatProblems(
    problems.map(({ field, problem }) => {
      const argument = ARGUMENTS[field] ?? ARGUMENTS[field.replace(/[.[].*$/s, "")];
      return { field: argument === undefined ? field : `${argument[style]}: ${field}`, problem };
    }),
  );
}
