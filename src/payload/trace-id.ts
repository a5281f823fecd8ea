/** `<source>-<run>-spawn-<seq>`; the same pattern stands in plugin/schemas/spawn-payload.schema.json. */
export const TRACE_ID_PATTERN = /^(wf|hook|eval|ralf)-[0-9a-zA-Z-]+-(spawn|step)-[0-9]+$/;

export type TraceIdParts = {
  /** YYYYMMDD */
  date: string;
  /** six of 0-9a-z, the same for all spawns of one workflow run */
  run: string;
  /** the spawn's number in its run, a whole number from 0 */
  seq: number;
};

/** Whether a value is a trace id. */
export function isTraceId(value: unknown): value is string {
  return typeof value === "string" && TRACE_ID_PATTERN.test(value);
}

/** Whether a text can be the random part of a trace id. */
export function isRun(value: string): boolean {
  return /^[0-9a-z]{6}$/.test(value);
}

/**
 * A workflow spawn's trace id, such as `wf-20260427-abc123-spawn-001`; seq has at least three digits.
 * Throws RangeError for parts that would not make one.
 */
export function formatTraceId({ date, run, seq }: TraceIdParts): string {
  if (!/^[0-9]{8}$/.test(date)) throw new RangeError(`date ${JSON.stringify(date)} is not YYYYMMDD`);
  if (!isRun(run)) throw new RangeError(`run ${JSON.stringify(run)} is not six of 0-9a-z`);
  if (!Number.isSafeInteger(seq) || seq < 0) throw new RangeError(`seq ${seq} is not a whole number from 0`);
  return `wf-${date}-${run}-spawn-${String(seq).padStart(3, "0")}`;
}

/** The day of a time as YYYYMMDD, in UTC, so that it does not depend on the machine. */
export function traceDate(now: Date): string {
  return now.toISOString().slice(0, 10).replaceAll("-", "");
}
