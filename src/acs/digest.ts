import { createHash } from "node:crypto";

/** A value as its size and hash: what it was can be proven, not read. One that is nested too deep has neither. */
export function digest(value: unknown): { sha256: string; bytes: number } | { too_deep: true } {
  let text: string;
  try {
    text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  } catch {
    return { too_deep: true };
  }
  return { sha256: sha256(text), bytes: Buffer.byteLength(text, "utf8") };
}

export function sha256(text: string): string {
  return createHash("sha256").update(text, "utf8").digest("hex");
}
