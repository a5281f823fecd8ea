import type { Ledger } from "./ledger.ts";
import type { Meter } from "./meter.ts";
import type { Slot } from "./session-state.ts";
import { giveBack } from "./slot.ts";
import type { SpawnRecord } from "./spawn-record.ts";

/**
 * An adopted spawn turns out to be an admitted one whose proof came late (case 61): it stops counting, its
 * children become the other's, and running descendants are set to the depth that follows.
 */
export function mergeSpawn(ledger: Ledger, adopted: SpawnRecord, admitted: SpawnRecord, now: number): void {
  let first = false;
  const merged = ledger.updateRecord(adopted.trace, (record) => {
    const current = record ?? adopted;
    first = current.mergedInto === null;
    return first
      ? { ...current, mergedInto: admitted.trace, phase: "ended", endedAt: current.endedAt ?? now }
      : null;
  });
  ledger.updateRecord(admitted.trace, (record) => {
    const current = record ?? admitted;
    return current.meter.turns > 0 ? null : { ...current, meter: carriedOn(adopted.meter, current.meter) };
  });
  const held = mergeSlots(ledger, adopted.trace, admitted);
  if (first && !held) ledger.updateSession((state) => giveBack(state, merged?.parent ?? null));
}

/** What the agent has used already; its transcript is read anew for the spawn that it turned out to be. */
function carriedOn(used: Meter, { transcript }: Meter): Meter {
  return { ...used, transcript };
}

/**
 * The part of a merge that the session's state is for; done again it changes nothing, so it also mends a merge
 * whose process was killed. False when the adopted spawn held no slot any more.
 */
export function mergeSlots(ledger: Ledger, adopted: string, admitted: SpawnRecord): boolean {
  let held = false;
  let moved: Record<string, Slot> = {};
  ledger.updateSession((state) => {
    const { [adopted]: slot, ...running } = state.running;
    moved = {};
    if (slot === undefined) return null;
    held = true;
    const target = running[admitted.trace];
    if (target !== undefined) {
      running[admitted.trace] = {
        ...target,
        children: target.children + slot.children,
        spent: target.spent + slot.spent,
      };
    }
    moved = rebase(running, adopted, admitted.trace, admitted.depth);
    return giveBack({ ...state, running: { ...running, ...moved } }, slot.parent);
  });
  for (const [trace, slot] of Object.entries(moved)) {
    ledger.updateRecord(trace, (record) =>
      record === null
        ? null
        : {
            ...record,
            parent: slot.parent,
            depth: slot.depth,
            payload: { ...record.payload, parent_trace_id: slot.parent },
          },
    );
  }
  return held;
}

/** The slots below `from`, moved below `to` at `depth`; each once, whatever the chain says. */
function rebase(
  running: Record<string, Slot>,
  from: string,
  to: string,
  depth: number,
  moved: Record<string, Slot> = {},
): Record<string, Slot> {
  for (const [trace, slot] of Object.entries(running)) {
    if (slot.parent !== from || Object.hasOwn(moved, trace)) continue;
    moved[trace] = { ...slot, parent: to, depth: depth + 1 };
    rebase(running, trace, trace, depth + 1, moved);
  }
  return moved;
}
