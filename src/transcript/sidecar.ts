import { lstatSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileKey, namesIn, readIfPresent } from "../ledger/files.ts";
import { isJson } from "../ledger/shape.ts";

/**
 * What the host wrote beside a subagent's transcript (`agent-<id>.meta.json`). Agents can edit files, so every
 * member is checked, and what it says of parent and depth is held against the ledger before it counts. `finished`
 * and `foreground` are taken as they stand: at worst they free a slot that the agent takes again at its next call.
 */
export type Sidecar = {
  toolUseId: string | null;
  parentAgentId: string | null;
  /** 1 for a subagent of the main thread; null when it is missing or no whole number from 1 (case 70) */
  spawnDepth: number | null;
  agentType: string | null;
  /** the host has written that the agent's run is over */
  finished: boolean;
  /** its caller waits for it, and dies with it */
  foreground: boolean;
  /** the run whose folder it was found in; null outside workflows */
  workflowRun: string | null;
};

const ID = /^[A-Za-z0-9_-]{1,200}$/;
const MAX_BYTES = 1_000_000;

/**
 * The sidecar of an agent, or null when there is none to be believed: `transcriptPath` must be the session's own
 * `<session id>.jsonl`. Workflow agents have theirs in `subagents/workflows/<run>/`.
 */
export function readSidecar(transcriptPath: string, sessionId: string, agentId: string): Sidecar | null {
  if (basename(transcriptPath) !== `${sessionId}.jsonl` || !ID.test(agentId)) return null;
  const folder = join(dirname(transcriptPath), fileKey(sessionId), "subagents");
  const name = `agent-${agentId}.meta.json`;
  const plain = readSmall(join(folder, name));
  if (plain !== null) return parse(plain, null);
  const runs = join(folder, "workflows");
  for (const run of namesIn(runs)) {
    const text = readSmall(join(runs, run, name));
    if (text !== null) return parse(text, run);
  }
  return null;
}

/** Only a file of its own: what stands there may be a link to something endless. */
function readSmall(file: string): string | null {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  return stats?.isFile() && stats.size <= MAX_BYTES ? readIfPresent(file) : null;
}

function parse(text: string, workflowRun: string | null): Sidecar | null {
  let raw: unknown;
  try {
    raw = JSON.parse(text);
  } catch {
    return null;
  }
  if (!isJson(raw)) return null;
  const depth = raw.spawnDepth;
  return {
    toolUseId: idOrNull(raw.toolUseId),
    parentAgentId: idOrNull(raw.parentAgentId),
    spawnDepth: typeof depth === "number" && Number.isSafeInteger(depth) && depth >= 1 ? depth : null,
    agentType: typeof raw.agentType === "string" ? raw.agentType : null,
    finished: raw.finished === true,
    foreground: raw.requestShape === "foreground",
    workflowRun,
  };
}

function idOrNull(value: unknown): string | null {
  return typeof value === "string" && ID.test(value) ? value : null;
}
