import { join } from "node:path";
import type { DecidedSession } from "../../unit/ledger/decided-session.ts";
import type { RecordedRun, Step } from "./recorded-run.ts";

/** Plays a recording's events in this order; gives back the tool_use_ids of the calls that were refused. */
export async function replayInto(
  session: DecidedSession,
  run: RecordedRun,
  order: readonly number[],
): Promise<string[]> {
  const denied: string[] = [];
  for (const index of order) {
    const step = run.steps[index];
    if (step === undefined) throw new Error(`${run.name} has no step ${index}`);
    writeSidecar(session, run, step);
    const answer = await session.decide({ ...step.call.input, ...session.event(step.name) });
    if (answer.deny !== undefined) denied.push(String(step.id));
  }
  return denied;
}

/** What the host has written beside the agent's transcript by then; nothing yet at its first SubagentStart. */
function writeSidecar(session: DecidedSession, run: RecordedRun, { actor, call: { sidecar } }: Step): void {
  if (actor === null || sidecar == null || Object.keys(sidecar).length === 0) return;
  const workflow = run.workflowRun(actor);
  const folder = workflow === null ? session.subagents : join(session.subagents, "workflows", workflow);
  session.sidecar(actor, sidecar, folder);
}
