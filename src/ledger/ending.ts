import type { Ledger } from "./ledger.ts";
import { mergeSlots } from "./merge.ts";
import type { SessionState } from "./session-state.ts";
import { giveBack } from "./slot.ts";
import type { Outcome, SpawnRecord } from "./spawn-record.ts";

/**
 * Ends a spawn: its record first, then its slot, so that whoever finds the slot after a kill in between can see
 * that it is over. The first ending counts; a later one changes nothing (DESIGN "How a spawn ends"). A spawn that
 * never ran gives everything back.
 *
 * Returns the record as it stands, or null for a trace id that the ledger does not know.
 */
export function endSpawn(
  ledger: Ledger,
  trace: string,
  outcome: Outcome,
  detail: string | null,
  now: number,
): SpawnRecord | null {
  const before = ledger.record(trace);
  if (before === null) return null;
  if (before.trace !== trace) mergeSlots(ledger, trace, before);
  const ended = ledger.updateRecord(before.trace, (record) => {
    const current = record ?? before;
    if (current.phase === "ended") return record === null ? current : null;
    return { ...current, phase: "ended", outcome, detail, endedAt: now };
  });
  if (ended === null) return null;
  const orphans = releaseSlot(ledger, ended);
  for (const orphan of orphans) markOrphan(ledger, orphan, now);
  return ended;
}

/** Gives back the slot of an ended spawn, once, and answers with the trace ids of children that go on. */
function releaseSlot(ledger: Ledger, ended: SpawnRecord): string[] {
  let orphans: string[] = [];
  let children = ended.children;
  const givesBack = ended.outcome === "never_started" || ended.outcome === "cancelled";
  ledger.updateSession((state) => {
    const slot = state.running[ended.trace];
    orphans = [];
    if (slot === undefined) return null;
    children = slot.children;
    const running = { ...state.running };
    delete running[ended.trace];
    orphans = Object.keys(running).filter((trace) => running[trace]?.parent === ended.trace);
    const freed: SessionState = { ...state, running, spent: state.spent + slot.spent };
    return givesBack ? giveBack(freed, ended.parent) : freed;
  });
  if (children !== ended.children) {
    ledger.updateRecord(ended.trace, (record) => (record === null ? null : { ...record, children }));
  }
  return orphans;
}

function markOrphan(ledger: Ledger, trace: string, now: number): void {
  ledger.updateRecord(trace, (record) =>
    record === null || record.orphanedAt !== null ? null : { ...record, orphanedAt: now },
  );
}

/**
 * Frees the slots that nobody will free: of spawns that have ended or were merged (a hook was killed in between) and of
 * those that have shown no sign of life for their timeout. Asked for only when a limit would refuse a spawn.
 */
export function reclaimSlots(ledger: Ledger, state: SessionState, now: number): boolean {
  let freed = false;
  for (const [trace, slot] of Object.entries(state.running)) {
    const record = ledger.record(trace);
    if (record !== null && record.trace !== trace) {
      freed = mergeSlots(ledger, trace, record) || freed;
      continue;
    }
    const seenAt = Math.max(slot.since, record?.seenAt ?? 0);
    if (record?.phase !== "ended" && now <= seenAt + slot.timeoutMs) continue;
    endSpawn(ledger, trace, "timed_out", `no sign of life for ${slot.timeoutMs} ms`, now);
    freed = true;
  }
  return freed;
}
