import { hasShape, isCount, isTextOrNull } from "../ledger/shape.ts";
import { fingerprint, isFingerprints } from "./fingerprint.ts";
import { isLineScan, type LineScan } from "./line-scan-state.ts";
import { isMeter, newMeter, type UsageMeter } from "./usage.ts";

/**
 * How far a transcript has been read and what it came to: a few hundred bytes of JSON for a usual spawn, 8 KB at
 * most but for a half-written line of very many tool calls. See `usageTotals` for the numbers in it.
 */
export type TranscriptState = {
  meter: UsageMeter;
  /** device and inode of the file that was read */
  file: string | null;
  /** bytes of it that were read */
  offset: number;
  /** fingerprint of the last bytes before the offset: other ones mean that it was rewritten in place */
  tail: string;
  /** the half-written line at the offset */
  line: LineScan | null;
  /** in a fork's file: the assistant lines up to the first prompt are its parent's */
  inherited: boolean;
};

/** `promptTokens` is the size of the spawn's prompt, its bytes / 4. */
export function newTranscriptState(promptTokens: number): TranscriptState {
  return {
    meter: newMeter(promptTokens),
    file: null,
    offset: 0,
    tail: fingerprint(""),
    line: null,
    inherited: false,
  };
}

/** A state as it was stored, or null when it is not one. */
export function decodeTranscriptState(raw: unknown): TranscriptState | null {
  return isState(raw) ? raw : null;
}

const STATE: Record<keyof TranscriptState, (value: unknown) => boolean> = {
  meter: isMeter,
  file: isTextOrNull,
  offset: isCount,
  tail: (value) => isFingerprints(value, 1) && value !== "",
  line: (value) => value === null || isLineScan(value),
  inherited: (value) => typeof value === "boolean",
};

function isState(raw: unknown): raw is TranscriptState {
  return hasShape(raw, STATE);
}
