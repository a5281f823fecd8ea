import type { SpawnRecord } from "../ledger/spawn-record.ts";

export type Lineage = { known: true } | { known: false; why: string };

/**
 * Walks parent by parent from a spawn to the main thread and says whether every step can be believed
 * (DESIGN "Lineage" 3): each parent is in this session's ledger, no spawn comes twice, each depth is its
 * parent's plus one, and the root stands right below the main thread, whose depth is `baseDepth`.
 *
 * `lookUp` answers with null for a trace id that this session's ledger does not hold.
 */
export function walkLineage(
  start: SpawnRecord,
  lookUp: (trace: string) => SpawnRecord | null,
  baseDepth: number,
): Lineage {
  const seen = new Set<string>();
  let spawn = start;
  for (;;) {
    if (seen.has(spawn.trace)) return unknown(`${spawn.trace} is its own ancestor`);
    seen.add(spawn.trace);
    if (spawn.doubt !== null) return unknown(`${spawn.trace}: ${spawn.doubt}`);
    if ((spawn.payload.parent_trace_id ?? null) !== spawn.parent) {
      return unknown(`${spawn.trace} and its payload name different parents`);
    }
    if (spawn.parent === null) {
      const root = baseDepth + 1;
      return spawn.depth === root
        ? { known: true }
        : unknown(`${spawn.trace} has no parent but stands at depth ${spawn.depth}`);
    }
    const parent = lookUp(spawn.parent);
    if (parent === null) return unknown(`${spawn.parent} is not in this session's ledger`);
    if (parent.depth + 1 !== spawn.depth) {
      return unknown(`${spawn.trace} stands at depth ${spawn.depth} below one at depth ${parent.depth}`);
    }
    spawn = parent;
  }
}

function unknown(why: string): Lineage {
  return { known: false, why };
}
