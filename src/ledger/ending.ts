import { checksum } from "./checksum.ts";
import type { Ledger } from "./ledger.ts";
import { mergeSlots } from "./merge.ts";
import { type Meter, stopRun, tokensUsed } from "./meter.ts";
import { type Failures, MAX_FAILURES, type SessionState } from "./session-state.ts";
import { giveBack } from "./slot.ts";
import { hasFailed, type Outcome, type SpawnRecord } from "./spawn-record.ts";

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
  let unreported = 0;
  const ended = ledger.updateRecord(before.trace, (record) => {
    const current = record ?? before;
    if (current.phase === "ended") return record === null ? current : null;
    const meter = stopRun(current.meter, now);
    const total = tokensUsed(meter, true).session;
    // Counted as reported before it is: a kill in between loses a few tokens, the other way round doubles them.
    unreported = Math.max(0, total - meter.reported);
    return {
      ...current,
      phase: "ended",
      outcome,
      detail,
      endedAt: now,
      meter: { ...meter, reported: total },
    };
  });
  if (ended === null) return null;
  const orphans = releaseSlot(ledger, ended, unreported);
  for (const orphan of orphans) markOrphan(ledger, orphan, now);
  return ended;
}

/** Gives back the slot of an ended spawn, once, and answers with the trace ids of children that go on. */
function releaseSlot(ledger: Ledger, ended: SpawnRecord, unreported: number): string[] {
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
    const spent = state.spent + Math.max(slot.spent, unreported);
    const freed: SessionState = { ...state, running, spent };
    if (hasFailed(ended)) return { ...freed, failures: countFailure(state.failures, failureKey(ended)) };
    return givesBack ? giveBack(freed, ended.parent) : freed;
  });
  if (children !== ended.children) {
    ledger.updateRecord(ended.trace, (record) => (record === null ? null : { ...record, children }));
  }
  return orphans;
}

/** Failed spawns are the same attempt when one caller wanted the same goal from the same role. */
export function failureKey({ parent, role, payload }: SpawnRecord): string {
  return `${parent ?? "main"}:${role}:${checksum(payload.goal)}`;
}

function countFailure(failures: readonly Failures[], key: string): Failures[] {
  const times = (failures.find((known) => known.key === key)?.times ?? 0) + 1;
  return [...failures.filter((known) => known.key !== key), { key, times }].slice(-MAX_FAILURES);
}

/**
 * Counts what an ended spawn's transcript shows only now: its last lines are often not on disk when it stops.
 * `meter` is the spawn's, read on.
 */
export function settleSpawn(
  ledger: Ledger,
  trace: string,
  read: (meter: Meter) => Meter,
): SpawnRecord | null {
  let late = 0;
  const settled = ledger.updateRecord(trace, (record) => {
    late = 0;
    if (record === null || record.phase !== "ended") return null;
    const meter = read(record.meter);
    late = Math.max(0, tokensUsed(meter, true).session - meter.reported);
    if (meter === record.meter && late === 0) return null;
    return { ...record, meter: { ...meter, reported: meter.reported + late } };
  });
  const added = late;
  if (added > 0) ledger.updateSession((state) => ({ ...state, spent: state.spent + added }));
  return settled;
}

function markOrphan(ledger: Ledger, trace: string, now: number): void {
  ledger.updateRecord(trace, (record) =>
    record === null || record.orphanedAt !== null ? null : { ...record, orphanedAt: now },
  );
}

/**
 * Frees the slots that nobody will free: of spawns that have ended or were merged (a hook was killed in between) and of
 * those that have shown no sign of life for their timeout. Some ends the host tells no hook about, only the agent's sidecar
 * (`Ledger.isFinished`). Asked for only when a limit would refuse a spawn.
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
    if (record?.phase === "ended" || (slot.agent !== null && ledger.isFinished(slot.agent))) {
      endSpawn(ledger, trace, "completed", "the host wrote that it is over", now);
    } else if (now > seenAt + slot.timeoutMs && !waitsForChild(state, trace)) {
      endSpawn(ledger, trace, "timed_out", `no sign of life for ${slot.timeoutMs} ms`, now);
    } else continue;
    freed = true;
  }
  return freed;
}

/** One that waits for its child gives no sign of life of its own. */
function waitsForChild(state: SessionState, trace: string): boolean {
  return Object.values(state.running).some((slot) => slot.parent === trace);
}
