import type { ReasonCode } from "../guard/reasons.ts";
import type { Policy } from "../policy/policy-keys.ts";
import { reclaimSlots } from "./ending.ts";
import type { Ledger } from "./ledger.ts";
import { startRun } from "./meter.ts";
import { gaveBack } from "./rebuild.ts";
import { countChild, slotOf } from "./slot.ts";
import type { SpawnRecord } from "./spawn-record.ts";

/**
 * An ended spawn whose agent runs again is the same spawn: it takes a slot anew and its counters go on (DESIGN
 * "Lineage" 5). With no slot free it stays ended and its calls are denied until there is one.
 */
export function resumeSpawn(ledger: Ledger, ended: SpawnRecord, policy: Policy, now: number): SpawnRecord {
  if (!takeSlot(ledger, ended, policy, now)) {
    const state = ledger.session();
    const freed = state !== null && reclaimSlots(ledger, state, now);
    if (!freed || !takeSlot(ledger, ended, policy, now))
      return setBarred(ledger, ended, "concurrency_exceeded");
  }
  const resumed = ledger.updateRecord(ended.trace, (record) => {
    const current = record ?? ended;
    if (current.phase !== "ended") return null;
    const barred = current.barred === "concurrency_exceeded" ? null : current.barred;
    return {
      ...current,
      phase: "running",
      endedAt: null,
      outcome: null,
      detail: null,
      seenAt: now,
      barred,
      meter: startRun(current.meter, now),
    };
  });
  return resumed ?? ended;
}

function takeSlot(ledger: Ledger, ended: SpawnRecord, policy: Policy, now: number): boolean {
  let taken = false;
  ledger.updateSession((state) => {
    taken = Object.hasOwn(state.running, ended.trace);
    if (taken || Object.keys(state.running).length >= policy.max_concurrent_spawns) return null;
    taken = true;
    const again = gaveBack(ended);
    const running = { ...state.running, [ended.trace]: { ...slotOf(ended), since: now } };
    return {
      ...state,
      admitted: state.admitted + (again ? 1 : 0),
      running: again ? countChild(running, ended.parent) : running,
    };
  });
  return taken;
}

function setBarred(ledger: Ledger, spawn: SpawnRecord, barred: ReasonCode): SpawnRecord {
  const changed = ledger.updateRecord(spawn.trace, (record) =>
    record === null || record.barred !== null ? null : { ...record, barred },
  );
  return changed ?? { ...spawn, barred };
}
