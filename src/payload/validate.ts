import type { ReturnContract } from "./return-contract.ts";
import { schemaProblem } from "./schema-problem.ts";
import type { FieldProblem, SpawnPayload } from "./spawn-payload.ts";
import { type Validator, validateReturnContract, validateSpawnPayload } from "./validators.generated.js";
import { countEntries, isDeeperThan } from "./value-size.ts";

/** Levels of lists and objects, the value's own included; deeper ones could not be written out again. */
export const MAX_DEPTH = 100;
/** Entries on the two uppermost levels; more cannot stand in 200000 tokens. */
export const MAX_ENTRIES = 100_000;
const MAX_PROBLEMS = 100;

export type CheckedPayload = { ok: true; payload: SpawnPayload } | { ok: false; problems: FieldProblem[] };
export type CheckedContract =
  | { ok: true; contract: ReturnContract }
  | { ok: false; problems: FieldProblem[] };

/**
 * Checks any value that JSON can hold against plugin/schemas/spawn-payload.schema.json. Names every problem, at
 * most a hundred of them. Never throws; the value is not copied.
 */
export function checkPayload(value: unknown): CheckedPayload {
  const checked = check(value, validateSpawnPayload, "payload");
  return checked.ok ? { ok: true, payload: checked.value } : checked;
}

/** The same for plugin/schemas/return-contract.schema.json. */
export function checkContract(value: unknown): CheckedContract {
  const checked = check(value, validateReturnContract, "return contract");
  return checked.ok ? { ok: true, contract: checked.value } : checked;
}

type Checked<T> = { ok: true; value: T } | { ok: false; problems: FieldProblem[] };

function check<T>(value: unknown, validator: Validator<T>, whole: string): Checked<T> {
  // A hostile value could have millions of things wrong with it, each with a text of its own.
  const entries = countEntries(value);
  if (entries > MAX_ENTRIES) return refused(whole, `has ${entries} entries; at most ${MAX_ENTRIES}`);
  if (isDeeperThan(value, MAX_DEPTH))
    return refused(whole, `is nested too deep; at most ${MAX_DEPTH} levels of lists and objects`);
  if (validator(value)) return { ok: true, value };
  const errors = (validator.errors ?? []).slice(0, MAX_PROBLEMS);
  return { ok: false, problems: errors.map((error) => schemaProblem(error, whole)) };
}

function refused<T>(field: string, problem: string): Checked<T> {
  return { ok: false, problems: [{ field, problem }] };
}
