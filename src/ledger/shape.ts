/**
 * Reading back what was written: every member is checked, and a value of another shape is damage, not a
 * default. Free of Node.
 */
export type Json = Record<string, unknown>;

export function isJson(value: unknown): value is Json {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A count, an amount of tokens or a time: finite, whole and not negative (case 70). */
export function isCount(value: unknown): value is number {
  return typeof value === "number" && Number.isSafeInteger(value) && value >= 0;
}

export function isText(value: unknown): value is string {
  return typeof value === "string";
}

export function isTextOrNull(value: unknown): value is string | null {
  return value === null || typeof value === "string";
}

export function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every(isText);
}

export function isCountOrNull(value: unknown): value is number | null {
  return value === null || isCount(value);
}

/** Whether every member named in `checks` passes its check. */
export function hasShape(value: unknown, checks: Record<string, (member: unknown) => boolean>): boolean {
  return isJson(value) && Object.entries(checks).every(([name, check]) => check(value[name]));
}
