import { lstatSync } from "node:fs";
import { basename, dirname, join, normalize } from "node:path";
import { codeOf, namesIn } from "../ledger/files.ts";

const ID = /^[A-Za-z0-9_-]{1,200}$/;

/**
 * The transcript of a subagent, or null when there is none yet (case 105). Subagents of every depth have theirs in
 * `<session>/subagents/`, workflow agents in `subagents/workflows/<run>/`, older hosts beside the session's own
 * `<session id>.jsonl`, which `transcriptPath` must be.
 *
 * `given` is the path that an event names (`agent_transcript_path`). It wins where it is one of these places and
 * named for this agent; any other is not believed, since hook inputs can be made up.
 */
export function findTranscript(
  transcriptPath: string,
  sessionId: string,
  agentId: string,
  given: string | null = null,
): string | null {
  if (!ID.test(sessionId) || !ID.test(agentId) || basename(transcriptPath) !== `${sessionId}.jsonl`)
    return null;
  const project = dirname(transcriptPath);
  const subagents = join(project, sessionId, "subagents");
  const workflows = join(subagents, "workflows");
  const name = `agent-${agentId}.jsonl`;

  if (given !== null && basename(given) === name) {
    const folder = dirname(normalize(given));
    const run = dirname(folder) === normalize(workflows) && ID.test(basename(folder));
    const known = run || [subagents, project].some((place) => normalize(place) === folder);
    if (known && isThere(join(folder, name))) return join(folder, name);
  }
  const plain = join(subagents, name);
  if (isThere(plain)) return plain;
  for (const run of runsIn(workflows)) {
    const file = join(workflows, run, name);
    if (isThere(file)) return file;
  }
  const old = join(project, name);
  return isThere(old) ? old : null;
}

function runsIn(workflows: string): string[] {
  try {
    return namesIn(workflows).filter((run) => ID.test(run));
  } catch (error) {
    if (codeOf(error) === "ENOTDIR") return [];
    throw error;
  }
}

/** A regular file: no link, no pipe (case 71). */
function isThere(file: string): boolean {
  try {
    return lstatSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
  } catch (error) {
    if (codeOf(error) === "ENOTDIR") return false;
    throw error;
  }
}
