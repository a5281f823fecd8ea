// The types of the module that scripts/generate-validators.ts writes.
import type { ReturnContract } from "./return-contract.ts";
import type { SpawnPayload } from "./spawn-payload.ts";

/** One error of ajv's, in its verbose form. */
export type SchemaError = {
  /** JSON pointer (RFC 6901) to the value that is wrong; empty for the whole */
  instancePath: string;
  keyword: string;
  params: Record<string, unknown>;
  /** the schema that the keyword stands in */
  parentSchema: Record<string, unknown>;
  /** the value that is wrong */
  data: unknown;
};

/** `errors` holds what the last call found. */
export type Validator<T> = ((value: unknown) => value is T) & { errors?: SchemaError[] | null };

export const validateSpawnPayload: Validator<SpawnPayload>;
export const validateReturnContract: Validator<ReturnContract>;
