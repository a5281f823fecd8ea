import {
  decodeTranscriptState,
  newTranscriptState,
  type TranscriptState,
} from "../transcript/transcript-state.ts";
import { usageTotals } from "../transcript/usage.ts";
import { hasShape, isCount, isCountOrNull, isTextOrNull, isTexts } from "./shape.ts";

/** What one spawn has used, as hooks and its transcript show it (DESIGN "Budgets"). Pure. */
export type Meter = {
  /** tool calls that the spawn's PostToolBatch events listed */
  toolCalls: number;
  /** PostToolBatch events: responses that called tools */
  turns: number;
  /** tool_use_ids that PreToolUse saw and no PostToolBatch has listed yet */
  inFlight: string[];
  /** tool_use_ids of the latest calls that were counted, oldest first, at most MAX_REMEMBERED */
  counted: string[];
  transcript: TranscriptState;
  /** milliseconds of the runs that are over */
  ranMs: number;
  /** milliseconds since the epoch at which the present run began; null between runs */
  runningSince: number | null;
  /** limits of which the subagent has been told */
  told: string[];
  /** the limit that denied a call first, and `turns` at that time */
  exhausted: string | null;
  exhaustedAt: number | null;
  /** session tokens that have been added to the session's own sum */
  reported: number;
};

/** Far above any budget's tool calls; a repeated event older than this would count again. */
const MAX_REMEMBERED = 500;
const BYTES_PER_TOKEN = 4;

/** `prompt` is what the spawn was started with: its first request counts by the prompt's size (bytes / 4). */
export function newMeter(prompt: string): Meter {
  return {
    toolCalls: 0,
    turns: 0,
    inFlight: [],
    counted: [],
    transcript: newTranscriptState(estimateTokens(prompt)),
    ranMs: 0,
    runningSince: null,
    told: [],
    exhausted: null,
    exhaustedAt: null,
    reported: 0,
  };
}

/** A text's size in tokens: its UTF-8 bytes / 4, an estimate (DESIGN "Budgets"). */
export function estimateTokens(text: string): number {
  return Math.ceil(new TextEncoder().encode(text).length / BYTES_PER_TOKEN);
}

/** A call is about to be made. The same call again changes nothing. */
export function noteCall(meter: Meter, call: string): Meter {
  if (meter.inFlight.includes(call) || meter.counted.includes(call)) return meter;
  return { ...meter, inFlight: [...meter.inFlight, call].slice(-MAX_REMEMBERED) };
}

/** A response's calls are done. The same batch again changes nothing. */
export function noteBatch(meter: Meter, calls: readonly string[]): Meter {
  const fresh = [...new Set(calls)].filter((call) => !meter.counted.includes(call));
  if (fresh.length === 0) return meter;
  return {
    ...meter,
    toolCalls: meter.toolCalls + fresh.length,
    turns: meter.turns + 1,
    inFlight: meter.inFlight.filter((call) => !fresh.includes(call)),
    counted: [...meter.counted, ...fresh].slice(-MAX_REMEMBERED),
  };
}

export function startRun(meter: Meter, at: number): Meter {
  return meter.runningSince === null ? { ...meter, runningSince: at } : meter;
}

export function stopRun(meter: Meter, at: number): Meter {
  return meter.runningSince === null ? meter : { ...meter, ranMs: ranMs(meter, at), runningSince: null };
}

/** Running time in milliseconds, summed over resumes. */
export function ranMs(meter: Meter, now: number): number {
  return meter.ranMs + (meter.runningSince === null ? 0 : Math.max(0, now - meter.runningSince));
}

/** Tokens: `input` is context growth, `output` everything written, `session` what counts for the session. */
export function tokensUsed(meter: Meter, ended: boolean): { input: number; output: number; session: number } {
  const { input, output, tokens } = usageTotals(meter.transcript.meter, ended);
  return { input, output, session: tokens };
}

const METER: Record<keyof Meter, (value: unknown) => boolean> = {
  toolCalls: isCount,
  turns: isCount,
  inFlight: isTexts,
  counted: isTexts,
  transcript: (value) => decodeTranscriptState(value) !== null,
  ranMs: isCount,
  runningSince: isCountOrNull,
  told: isTexts,
  exhausted: isTextOrNull,
  exhaustedAt: isCountOrNull,
  reported: isCount,
};

export function isMeter(value: unknown): value is Meter {
  return hasShape(value, METER);
}
