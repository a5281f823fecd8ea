import { hasShape, isCount, isJson, isText, isTextOrNull, isTexts, type Json } from "./shape.ts";

/**
 * What every decision of a session has to agree on, in one cell: counts, the spawns that hold a slot, and the
 * latest refusals. Its size depends on how many spawns run at once, never on how many there were.
 */
export type SessionState = {
  /** six of 0-9a-z, the random part of the trace ids that the guard makes in this session */
  run: string;
  /** the last sequence number given out */
  seq: number;
  /** depth of the main thread: 0, or more when a subagent's shell started this session (case 20) */
  baseDepth: number;
  /** admitted spawns, less those that gave everything back */
  admitted: number;
  refused: number;
  /** tokens of the spawns that have ended */
  spent: number;
  /** by trace id */
  running: Record<string, Slot>;
  /** newest last, at most MAX_REFUSALS */
  refusals: Refusal[];
  /** calls that start agents without an Agent call, newest last, at most MAX_LAUNCHES */
  launches: Launch[];
  /** failed spawns by caller, role and goal, newest last, at most MAX_FAILURES */
  failures: Failures[];
  /** session_intent as it stood when the session began: nothing replaces it (ACS v0.1.0, Intent) */
  intent: string;
  /** policy keys that the project's settings have put into the environment at some time */
  projectKeys: string[];
  /** notes that are given once */
  told: string[];
  /** payloads built for /subagent-spawn as the person typed it, newest last, at most MAX_TYPED */
  typed: Typed[];
  /** decisions that could not be recorded since the last one that could, null when there are none */
  auditGap: AuditGap | null;
  /** milliseconds since the epoch at which the session began or was resumed last; 0 where no event told */
  begunAt: number;
  /** damage found in this session, newest last, at most MAX_DAMAGE */
  damage: string[];
};

/** What a running spawn holds, and all that is needed to know it should its record be lost. */
export type Slot = {
  /** tool_use_id of the Agent call; null for an adopted spawn */
  call: string | null;
  agent: string | null;
  /** trace id of the parent; null below the main thread */
  parent: string | null;
  depth: number;
  role: string;
  /** the agent type that was admitted, as the host will be asked for it */
  agentType: string;
  origin: SpawnOrigin;
  /** tokens set aside from the session's cap: what a caller's payload asks for, else 0 */
  reserved: number;
  /** tokens used so far, as of the last response that was read */
  spent: number;
  /** milliseconds after which a spawn that shows no sign of life loses its slot */
  timeoutMs: number;
  /** milliseconds since the epoch */
  since: number;
  /** spawns it has made */
  children: number;
};

/** Who wrote the payload: the caller, the guard, or nobody (the spawn was found running). */
export type SpawnOrigin = "caller" | "attached" | "adopted";

export type Refusal = {
  /** identifies the same attempt: caller, type and prompt */
  key: string;
  code: string;
  /** tool_use_ids of the latest attempts, newest last, at most MAX_REFUSED_CALLS */
  calls: string[];
  times: number;
};

export type Failures = { key: string; times: number };

export type Launch = {
  call: string;
  tool: string;
  /** trace id of the caller; null for the main thread */
  parent: string | null;
  /** a workflow's run id or a forked skill's agent id, once known */
  id: string | null;
};

/** `sum` is the payload's checksum: only unchanged it is the person's own. */
export type Typed = { trace: string; sum: string };

/** `since` in milliseconds since the epoch; `why` is the first failure's. */
export type AuditGap = { missed: number; since: number; why: string };

export const MAX_TYPED = 20;
export const MAX_REFUSALS = 50;
export const MAX_REFUSED_CALLS = 20;
export const MAX_LAUNCHES = 50;
export const MAX_FAILURES = 50;
export const MAX_DAMAGE = 20;

/** `run` is six of 0-9a-z for the session's trace ids, `baseDepth` the depth of its main thread. */
export function newSession(run: string, baseDepth: number, intent: string): SessionState {
  return {
    run,
    intent,
    seq: 0,
    baseDepth,
    admitted: 0,
    refused: 0,
    spent: 0,
    running: {},
    refusals: [],
    launches: [],
    failures: [],
    projectKeys: [],
    told: [],
    typed: [],
    auditGap: null,
    begunAt: 0,
    damage: [],
  };
}

const SLOT: Record<keyof Slot, (value: unknown) => boolean> = {
  call: isTextOrNull,
  agent: isTextOrNull,
  parent: isTextOrNull,
  depth: isCount,
  role: isText,
  agentType: isText,
  origin: (value) => value === "caller" || value === "attached" || value === "adopted",
  reserved: isCount,
  spent: isCount,
  timeoutMs: isCount,
  since: isCount,
  children: isCount,
};

const SESSION: Record<keyof SessionState, (value: unknown) => boolean> = {
  run: isText,
  intent: isText,
  seq: isCount,
  baseDepth: isCount,
  admitted: isCount,
  refused: isCount,
  spent: isCount,
  running: (value) => isJson(value) && Object.values(value).every((slot) => hasShape(slot, SLOT)),
  refusals: isListOf({ key: isText, code: isText, calls: isTexts, times: isCount }),
  launches: isListOf({ call: isText, tool: isText, parent: isTextOrNull, id: isTextOrNull }),
  failures: isListOf({ key: isText, times: isCount }),
  projectKeys: isTexts,
  told: isTexts,
  typed: isListOf({ trace: isText, sum: isText }),
  auditGap: (value) => value === null || hasShape(value, { missed: isCount, since: isCount, why: isText }),
  begunAt: isCount,
  damage: isTexts,
};

/** What the members that came later are in a state of version 0.1.0. */
const ADDED = { intent: "*", typed: [], auditGap: null, begunAt: 0 };

export function decodeSession(raw: unknown): SessionState | null {
  const full = isJson(raw) ? { ...ADDED, ...raw } : raw;
  return isSession(full) ? full : null;
}

function isSession(raw: unknown): raw is SessionState {
  return hasShape(raw, SESSION);
}

function isListOf(checks: Record<string, (member: unknown) => boolean>): (value: unknown) => value is Json[] {
  return (value): value is Json[] => Array.isArray(value) && value.every((item) => hasShape(item, checks));
}
