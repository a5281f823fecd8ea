import type { Ledger } from "./ledger.ts";
import type { SessionState, Slot } from "./session-state.ts";
import type { SpawnRecord } from "./spawn-record.ts";

/**
 * An adopted spawn turns out to be an admitted one whose proof came late (case 61): it stops counting, its
 * children become the other's, and running descendants are set to the depth that follows.
 */
export function mergeSpawn(ledger: Ledger, adopted: SpawnRecord, admitted: SpawnRecord, now: number): void {
  ledger.updateRecord(adopted.trace, (record) =>
    record === null || record.mergedInto !== null
      ? null
      : { ...record, mergedInto: admitted.trace, phase: "ended", endedAt: now },
  );
  let moved: Record<string, Slot> = {};
  ledger.updateSession((state) => {
    const slot = state.running[adopted.trace];
    moved = {};
    if (slot === undefined) return null;
    const running = { ...state.running };
    delete running[adopted.trace];
    const target = running[admitted.trace];
    if (target !== undefined) {
      running[admitted.trace] = {
        ...target,
        children: target.children + slot.children,
        spent: target.spent + slot.spent,
      };
    }
    moved = rebase(running, adopted.trace, admitted.trace, admitted.depth);
    return {
      ...withoutChild(state, adopted.parent, { ...running, ...moved }),
      admitted: Math.max(0, state.admitted - 1),
    };
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

function withoutChild(
  state: SessionState,
  parent: string | null,
  running: Record<string, Slot>,
): SessionState {
  const slot = parent === null ? undefined : running[parent];
  if (parent === null || slot === undefined) return { ...state, running };
  return {
    ...state,
    running: { ...running, [parent]: { ...slot, children: Math.max(0, slot.children - 1) } },
  };
}
