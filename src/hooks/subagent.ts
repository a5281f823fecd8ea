import { type Refused, reasons, refusalOf } from "../guard/reasons.ts";
import { spawnOfAgent } from "../ledger/binding.ts";
import { resumeSpawn } from "../ledger/resuming.ts";
import type { SpawnRecord } from "../ledger/spawn-record.ts";
import type { HookContext } from "./hook-context.ts";
import type { HookEvent } from "./hook-event.ts";

/** The spawn of the subagent that an event comes from; null on the main thread. */
export function spawnOfEvent(event: HookEvent, context: HookContext): SpawnRecord | null {
  if (event.agentId === null) return null;
  const agent = { agentId: event.agentId, agentType: event.agentType };
  return spawnOfAgent(context.ledger, agent, () => context.sidecar(), context.policy, context.now);
}

/**
 * A subagent is about to call a tool: notes that it lives, takes it up again where it was thought to have ended,
 * and says why it may not, if so.
 */
export function judgeSubagent(
  spawn: SpawnRecord,
  context: HookContext,
): { spawn: SpawnRecord; refused: Refused | null } {
  const { ledger, policy, now } = context;
  const live = spawn.phase === "ended" ? resumeSpawn(ledger, spawn, policy, now) : spawn;
  const seen = ledger.updateRecord(live.trace, (record) =>
    record === null || record.seenAt >= now ? null : { ...record, seenAt: now },
  );
  return { spawn: seen ?? live, refused: refusal(seen ?? live, context) };
}

function refusal(spawn: SpawnRecord, { ledger, policy }: HookContext): Refused | null {
  if (spawn.barred !== null) return refusalOf(spawn.barred);
  if (spawn.ranAs !== null) return reasons.ranAsAnother(spawn.agentType, spawn.ranAs);
  if (policy.orphans === "deny" && spawn.parent !== null) {
    const parent = ledger.record(spawn.parent);
    if (spawn.orphanedAt !== null || parent?.phase === "ended") return reasons.orphaned(spawn.parent);
  }
  return null;
}
