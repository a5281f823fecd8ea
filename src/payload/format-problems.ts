import type { FieldProblem } from "./spawn-payload.ts";

const SHOWN_PROBLEMS = 10;

/** One line a problem, at most ten of them: `budget.max_turns is 60; at most 50`. */
export function formatProblems(problems: readonly FieldProblem[]): string {
  const lines = problems.slice(0, SHOWN_PROBLEMS).map(({ field, problem }) => `${field} ${problem}`);
  const more = problems.length - SHOWN_PROBLEMS;
  if (more > 0) lines.push(`and ${more} more`);
  return lines.join("\n");
}
