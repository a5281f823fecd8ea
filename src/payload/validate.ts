import type { ReturnContract } from "./return-contract.ts";
import { schemaProblem } from "./schema-problem.ts";
import type { FieldProblem, SpawnPayload } from "./spawn-payload.ts";
import { type Validator, validateReturnContract, validateSpawnPayload } from "./validators.generated.js";

/** Levels of nesting that a state slice may have: deeper ones could not be written out again. */
export const MAX_STATE_DEPTH = 100;
const SHOWN_PROBLEMS = 10;

export type CheckedPayload = { ok: true; payload: SpawnPayload } | { ok: false; problems: FieldProblem[] };
export type CheckedContract =
  | { ok: true; contract: ReturnContract }
  | { ok: false; problems: FieldProblem[] };

/** Checks any value against plugin/schemas/spawn-payload.schema.json. Never throws; the value is not copied. */
export function checkPayload(value: unknown): CheckedPayload {
  const checked = check(value, validateSpawnPayload, "payload");
  if (!checked.ok) return checked;
  if (deeperThan(checked.value.state_slice, MAX_STATE_DEPTH)) {
    return {
      ok: false,
      problems: [{ field: "state_slice", problem: `is nested too deep; at most ${MAX_STATE_DEPTH} levels` }],
    };
  }
  return { ok: true, payload: checked.value };
}

/** Checks any value against plugin/schemas/return-contract.schema.json. Never throws; the value is not copied. */
export function checkContract(value: unknown): CheckedContract {
  const checked = check(value, validateReturnContract, "return contract");
  return checked.ok ? { ok: true, contract: checked.value } : checked;
}

/** One line a problem, at most ten of them: `budget.max_turns is 60; at most 50`. */
export function formatProblems(problems: readonly FieldProblem[]): string {
  const lines = problems.slice(0, SHOWN_PROBLEMS).map(({ field, problem }) => `${field} ${problem}`);
  const more = problems.length - SHOWN_PROBLEMS;
  if (more > 0) lines.push(`and ${more} more`);
  return lines.join("\n");
}

function check<T>(
  value: unknown,
  validator: Validator<T>,
  whole: string,
): { ok: true; value: T } | { ok: false; problems: FieldProblem[] } {
  if (validator(value)) return { ok: true, value };
  return { ok: false, problems: (validator.errors ?? []).map((error) => schemaProblem(error, whole)) };
}

function deeperThan(value: unknown, levels: number): boolean {
  let layer: unknown[] = [value];
  for (let level = 0; layer.length > 0; level++) {
    if (level > levels) return true;
    layer = layer.flatMap((entry) =>
      typeof entry === "object" && entry !== null ? Object.values(entry) : [],
    );
  }
  return false;
}
