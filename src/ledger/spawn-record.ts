import { INTENT_DERIVATIONS, type IntentDerivation, SCOPE_MODES, type ScopeMode } from "../guard/intent.ts";
import { REASON_CODES, type ReasonCode } from "../guard/reasons.ts";
import type { SpawnPayload } from "../payload/spawn-payload.ts";
import { isMeter, type Meter, newMeter } from "./meter.ts";
import type { SpawnOrigin } from "./session-state.ts";
import { hasShape, isCount, isCountOrNull, isJson, isText, isTextOrNull, isTexts } from "./shape.ts";

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
  /** tools that it may not use whatever allowed_tools says: its role's own and its ancestors' */
  disallowed: string[];
  /** of these, what its ancestors brought: it binds also those whom the agent file hands their own tools */
  inheritedBans: string[];
  /** the name that its caller gave it, by which it can be sent messages */
  name: string | null;
  /** its agent file belongs to the project: it can hand nothing on to roles that do not */
  isProjectRole: boolean;
  /** roles to which its own agent file lets it hand their own tools (`Agent(a, b)`) */
  handsOn: string[];
  /** the turns after which the host stops it without a word: its agent file's maxTurns */
  hostTurns: number | null;
  /** tool rules that bound what it may do itself or hand on: all of its own and what it may hand to others */
  intent: string[];
  derivation: IntentDerivation;
  scope: ScopeMode;
  meter: Meter;
  contract: ContractRecord | null;
  /** background tasks that went on when it stopped, as the host describes them, at most MAX_NOTED */
  leftovers: string[];
  /** tool_use_ids of its transcript that no hook saw, at most MAX_NOTED */
  ungoverned: string[];
};

export const MAX_NOTED = 20;

/** What came of the return contract in the last message. */
export type ContractRecord = {
  state: "valid" | "missing" | "invalid";
  /** the contract's own status, where it is valid */
  status: string | null;
  problem: string | null;
  /** it has been asked for once */
  asked: boolean;
};

type Identity = Pick<
  SpawnRecord,
  "trace" | "call" | "agent" | "parent" | "depth" | "role" | "agentType" | "origin" | "payload" | "phase"
>;

/** Whether it counts against retry_budget: it broke, or said in a valid contract that it could not do the work. */
export function hasFailed({ outcome, contract }: Pick<SpawnRecord, "outcome" | "contract">): boolean {
  return outcome === "failed" || (outcome === "completed" && contract?.status === "failed");
}

/** A spawn of which nothing more is known yet; `now` in milliseconds since the epoch. */
export function newSpawnRecord(identity: Identity, prompt: string, now: number): SpawnRecord {
  return {
    ...identity,
    admittedAt: now,
    seenAt: now,
    endedAt: null,
    outcome: null,
    detail: null,
    doubt: null,
    ranAs: null,
    barred: null,
    orphanedAt: null,
    mergedInto: null,
    children: 0,
    disallowed: [],
    inheritedBans: [],
    name: null,
    isProjectRole: false,
    handsOn: [],
    hostTurns: null,
    intent: identity.payload.allowed_tools,
    derivation: "inherit_full",
    scope: "permissive",
    meter: newMeter(prompt),
    contract: null,
    leftovers: [],
    ungoverned: [],
  };
}

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
  disallowed: isTexts,
  inheritedBans: isTexts,
  name: isTextOrNull,
  isProjectRole: (value) => typeof value === "boolean",
  handsOn: isTexts,
  hostTurns: isCountOrNull,
  intent: isTexts,
  derivation: (value) => INTENT_DERIVATIONS.some((derivation) => derivation === value),
  scope: (value) => SCOPE_MODES.some((mode) => mode === value),
  meter: isMeter,
  leftovers: isTexts,
  ungoverned: isTexts,
  contract: (value) => value === null || hasShape(value, CONTRACT),
};

const CONTRACT: Record<keyof ContractRecord, (value: unknown) => boolean> = {
  state: (value) => value === "valid" || value === "missing" || value === "invalid",
  status: isTextOrNull,
  problem: isTextOrNull,
  asked: (value) => typeof value === "boolean",
};

/** What the members that came later are in a record of version 0.1.0. */
const ADDED = { intent: ["*"], derivation: "inherit_full", scope: "permissive" };

export function decodeRecord(raw: unknown): SpawnRecord | null {
  const full = isJson(raw) ? { ...ADDED, inheritedBans: raw.disallowed, ...raw } : raw;
  return isRecord(full) ? full : null;
}

function isRecord(raw: unknown): raw is SpawnRecord {
  return hasShape(raw, RECORD);
}
