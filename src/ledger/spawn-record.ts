import { REASON_CODES, type ReasonCode } from "../guard/reasons.ts";
import type { SpawnPayload } from "../payload/spawn-payload.ts";
import type { SpawnOrigin } from "./session-state.ts";
import { hasShape, isCount, isCountOrNull, isText, isTextOrNull, isTexts } from "./shape.ts";

/** How a spawn ended (DESIGN "How a spawn ends"). */
export const OUTCOMES = [
  "completed",
  "failed",
  "stopped",
  "turn_limit",
  "budget_exhausted",
  "never_started",
  "cancelled",
  "timed_out",
  "session_ended",
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Everything about one spawn that is not needed to admit another. */
export type SpawnRecord = {
  trace: string;
  call: string | null;
  agent: string | null;
  parent: string | null;
  depth: number;
  role: string;
  agentType: string;
  origin: SpawnOrigin;
  payload: SpawnPayload;
  /** reserved: admitted, not seen yet; running: its agent was seen; ended */
  phase: "reserved" | "running" | "ended";
  admittedAt: number;
  /** milliseconds since the epoch of the last sign of life */
  seenAt: number;
  endedAt: number | null;
  outcome: Outcome | null;
  /** what the outcome comes from, for a reader */
  detail: string | null;
  /** why its lineage cannot be believed: counts as being at the limit */
  doubt: string | null;
  /** the type that ran when it is not the one admitted */
  ranAs: string | null;
  /** the refusal code under which all its calls are denied */
  barred: ReasonCode | null;
  /** its parent ended at this time while it ran */
  orphanedAt: number | null;
  /** trace id of the admitted spawn that this adopted one turned out to be */
  mergedInto: string | null;
  /** spawns it had made when it last ended */
  children: number;
};

/** What decisions read of a stored payload; it was validated as a whole before it was stored. */
const PAYLOAD: Record<string, (value: unknown) => boolean> = {
  trace_id: isText,
  parent_trace_id: (value) => value === undefined || isTextOrNull(value),
  allowed_tools: isTexts,
  budget: (value) => hasShape(value, BUDGET),
};

const BUDGET: Record<string, (value: unknown) => boolean> = {
  max_input_tokens: isCount,
  max_output_tokens: isCount,
  max_tool_calls: isCount,
  max_turns: isCount,
  timeout_ms: isCount,
};

const RECORD: Record<keyof SpawnRecord, (value: unknown) => boolean> = {
  trace: isText,
  call: isTextOrNull,
  agent: isTextOrNull,
  parent: isTextOrNull,
  depth: isCount,
  role: isText,
  agentType: isText,
  origin: (value) => value === "caller" || value === "attached" || value === "adopted",
  payload: (value) => hasShape(value, PAYLOAD),
  phase: (value) => value === "reserved" || value === "running" || value === "ended",
  admittedAt: isCount,
  seenAt: isCount,
  endedAt: isCountOrNull,
  outcome: (value) => value === null || OUTCOMES.some((outcome) => outcome === value),
  detail: isTextOrNull,
  doubt: isTextOrNull,
  ranAs: isTextOrNull,
  barred: (value) => value === null || REASON_CODES.some((code) => code === value),
  orphanedAt: isCountOrNull,
  mergedInto: isTextOrNull,
  children: isCount,
};

export function decodeRecord(raw: unknown): SpawnRecord | null {
  return isRecord(raw) ? raw : null;
}

function isRecord(raw: unknown): raw is SpawnRecord {
  return hasShape(raw, RECORD);
}
