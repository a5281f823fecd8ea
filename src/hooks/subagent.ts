import { type Judged, judgeBudget } from "../guard/budget.ts";
import { type Refused, reasons, refusalOf } from "../guard/reasons.ts";
import { rightsProblem } from "../guard/rights-problem.ts";
import { handsIn } from "../guard/tools/hand-in-tools.ts";
import { spawnOfAgent } from "../ledger/binding.ts";
import { endSpawn } from "../ledger/ending.ts";
import { type Meter, noteCall, startRun } from "../ledger/meter.ts";
import { resumeSpawn } from "../ledger/resuming.ts";
import type { SpawnRecord } from "../ledger/spawn-record.ts";
import type { Answer } from "./answer.ts";
import type { HookContext } from "./hook-context.ts";
import type { HookEvent, ToolCall } from "./hook-event.ts";

/** The spawn of the subagent that an event comes from; null on the main thread. */
export function spawnOfEvent(event: HookEvent, context: HookContext): SpawnRecord | null {
  const { agentId, agentType } = event;
  if (agentId === null) return null;
  const { ledger, policy, now } = context;
  return spawnOfAgent(ledger, { agentId, agentType }, () => context.sidecarOf(agentId), policy, now);
}

export type Judgement = { spawn: SpawnRecord; refused: Refused | null; halt: boolean };

/**
 * A subagent is about to call a tool: meters it, takes it up again where it was thought to have ended, and says
 * why it may not, if so: it was not admitted as it runs, its budget is used up, or the tool is not its to use.
 */
export function judgeSubagent(
  spawn: SpawnRecord,
  call: ToolCall,
  cwd: string,
  context: HookContext,
): Judgement {
  const { ledger, now } = context;
  const rights = rightsRefusal(spawn, call, cwd, context);
  const live = takeUp(spawn, context);
  let judged: Judged = { meter: live.meter, refused: null, halt: false };
  const seen = ledger.updateRecord(live.trace, (record) => {
    const current = metered(record ?? live, context);
    judged = judge(current, call, rights, context);
    return { ...current, meter: judged.meter, seenAt: Math.max(current.seenAt, now) };
  });
  const after = seen ?? live;
  if (judged.halt) endSpawn(ledger, after.trace, "budget_exhausted", after.meter.exhausted, now);
  return { spawn: after, refused: judged.refused, halt: judged.halt };
}

/**
 * The spawn as it stands now that it is seen to live: one that was thought to have ended goes on, unless it was ended
 * on purpose, and one that found no slot when it was taken in may go on once others have ended.
 */
function takeUp(spawn: SpawnRecord, { ledger, policy, now }: HookContext): SpawnRecord {
  if (spawn.phase === "ended") return isOver(spawn) ? spawn : resumeSpawn(ledger, spawn, policy, now);
  if (spawn.barred !== "concurrency_exceeded") return spawn;
  const running = Object.keys(ledger.session()?.running ?? {}).length;
  if (running > policy.max_concurrent_spawns) return spawn;
  return ledger.updateRecord(spawn.trace, (record) => ({ ...(record ?? spawn), barred: null })) ?? spawn;
}

/** Refusals are rare, and what records them is loaded for them alone. */
export async function recordRefused(
  context: HookContext,
  call: ToolCall,
  caller: SpawnRecord | null,
  refused: Refused,
): Promise<void> {
  const { auditRefused } = await import("./audit-decision.ts");
  await auditRefused(context, call, caller, refused);
}

/** The answer to a subagent's call that may not be made. */
export function denied({ reason }: Refused, halt: boolean): Answer {
  return halt ? { deny: reason, halt: reason } : { deny: reason };
}

/** The record with its clock running and its transcript read on. */
export function metered(record: SpawnRecord, context: HookContext, given: string | null = null): SpawnRecord {
  const meter = context.readOn(running(record, context), record.agent, given);
  return meter === record.meter ? record : { ...record, meter };
}

/** A run is counted from its SubagentStart, which comes before the spawn is known. */
function running({ meter, phase, agent }: SpawnRecord, { ledger, now }: HookContext): Meter {
  if (meter.runningSince !== null || phase !== "running" || agent === null) return meter;
  return startRun(meter, ledger.agent(agent)?.startedAt ?? now);
}

/** It was ended on purpose, and calls that it made before are still coming in. */
function isOver(spawn: SpawnRecord): boolean {
  return spawn.outcome === "budget_exhausted" || spawn.outcome === "stopped";
}

function judge(spawn: SpawnRecord, call: ToolCall, rights: Refused | null, context: HookContext): Judged {
  const { policy, now } = context;
  const through = { meter: noteCall(spawn.meter, call.call), refused: null, halt: false };
  if (handsIn(call.tool)) return through;
  const standing = standingRefusal(spawn, context);
  if (standing !== null) return { meter: spawn.meter, refused: standing, halt: false };
  const budget = judgeBudget(spawn, call.call, policy, now);
  if (budget.refused !== null) return { ...budget, halt: budget.halt || isOver(spawn) };
  return rights === null ? budget : { meter: spawn.meter, refused: rights, halt: false };
}

function standingRefusal(spawn: SpawnRecord, { ledger, policy }: HookContext): Refused | null {
  if (spawn.barred !== null) return refusalOf(spawn.barred);
  if (spawn.outcome === "stopped") return reasons.stopped();
  if (spawn.ranAs !== null) return reasons.ranAsAnother(spawn.agentType, spawn.ranAs);
  if (policy.orphans === "deny" && spawn.parent !== null) {
    const parent = ledger.record(spawn.parent);
    if (spawn.orphanedAt !== null || parent?.phase === "ended") return reasons.orphaned(spawn.parent);
  }
  return null;
}

/** A spawn's tools do not change. */
function rightsRefusal(
  { payload, disallowed }: SpawnRecord,
  call: ToolCall,
  cwd: string,
  context: HookContext,
): Refused | null {
  if (disallowed.length === 0 && payload.allowed_tools.includes("*")) return null;
  const why = rightsProblem(payload.allowed_tools, disallowed, {
    tool: call.tool,
    input: call.input,
    cwd: cwd === "" ? context.projectFolder : cwd,
    projectDir: context.projectFolder,
    home: context.environment.HOME ?? "",
  });
  return why === null ? null : reasons.toolNotAllowed(why);
}
