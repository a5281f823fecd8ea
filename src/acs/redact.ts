export function redact(value: unknown): unknown {
  return typeof value;
}
