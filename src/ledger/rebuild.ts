import type { SessionState, Slot } from "./session-state.ts";
import { slotOf } from "./slot.ts";
import type { SpawnRecord } from "./spawn-record.ts";

/**
 * The session's state after its newest version was lost: the last sound one (or a new one), held against the
 * spawns' own records. Counts are never lower than what the records show, so damage cannot buy spawns.
 */
export function rebuildSession(older: SessionState, records: readonly SpawnRecord[]): SessionState {
  const counted = records.filter((record) => !gaveBack(record));
  const running: Record<string, Slot> = {};
  for (const record of records) {
    if (record.phase === "ended" || record.mergedInto !== null) continue;
    const children = records.filter((other) => other.parent === record.trace && !gaveBack(other)).length;
    running[record.trace] = { ...(older.running[record.trace] ?? slotOf(record)), children };
  }
  return {
    ...older,
    seq: Math.max(older.seq, records.length),
    admitted: Math.max(older.admitted, counted.length),
    running,
  };
}

/** Whether a spawn counts for nothing: it never ran, or turned out to be another one. */
export function gaveBack(record: SpawnRecord): boolean {
  return record.outcome === "never_started" || record.outcome === "cancelled" || record.mergedInto !== null;
}
