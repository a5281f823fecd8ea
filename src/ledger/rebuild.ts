import { tokensUsed } from "./meter.ts";
import type { SessionState, Slot } from "./session-state.ts";
import { slotOf } from "./slot.ts";
import type { SpawnRecord } from "./spawn-record.ts";

/**
 * The session's state after its newest version was lost: the last sound one (or a new one), held against the
 * spawns' own records. Counts are never lower than what the records show, so damage cannot buy spawns; a spawn
 * whose record cannot be read at all (`unreadable` are their trace ids) counts too.
 */
export function rebuildSession(
  older: SessionState,
  records: readonly SpawnRecord[],
  unreadable: readonly string[],
): SessionState {
  const recorded = new Set(records.map((record) => record.trace));
  // A slot without a record belongs to a spawn that is just being admitted, or whose record was damaged.
  const unrecorded = Object.entries(older.running).filter(([trace]) => !recorded.has(trace));
  const running = new Map<string, Slot>(unrecorded);
  for (const record of records) {
    if (record.phase === "ended" || record.mergedInto !== null) continue;
    const slot = older.running[record.trace] ?? slotOf(record);
    const { reported } = record.meter;
    const spent = Math.max(slot.spent, tokensUsed(record.meter, false).session - reported);
    running.set(record.trace, { ...slot, agent: record.agent ?? slot.agent, spent });
  }
  const counted = records.filter((record) => !gaveBack(record));
  const parents = [...counted, ...unrecorded.map(([, slot]) => slot)].map(({ parent }) => parent);
  const others = new Set([...unreadable, ...unrecorded.map(([trace]) => trace)]);
  return {
    ...older,
    seq: Math.max(older.seq, records.length + unreadable.length),
    admitted: Math.max(older.admitted, counted.length + others.size),
    spent: Math.max(
      older.spent,
      records.reduce((sum, { meter, mergedInto }) => sum + (mergedInto === null ? meter.reported : 0), 0),
    ),
    running: Object.fromEntries(
      [...running].map(([trace, slot]) => [
        trace,
        { ...slot, children: parents.filter((parent) => parent === trace).length },
      ]),
    ),
  };
}

/** Whether a spawn counts for nothing: it never ran, or turned out to be another one. */
export function gaveBack(record: SpawnRecord): boolean {
  return record.outcome === "never_started" || record.outcome === "cancelled" || record.mergedInto !== null;
}
