import type { SpawnRecord } from "./spawn-record.ts";

/** Something that happened to a spawn, as it stood right after. */
export type Transition = { kind: TransitionKind; spawn: SpawnRecord };

/** adopted: found running; began: its agent was seen; ended; seen: only after its end; merged: found to be another; resumed */
export type TransitionKind = "adopted" | "began" | "ended" | "seen" | "merged" | "resumed";

/** What a change of a spawn's record comes to; null for what moves it no further. */
export function transitionOf(before: SpawnRecord | null, after: SpawnRecord): TransitionKind | null {
  if (before === null) {
    if (after.phase === "running") return after.origin === "adopted" ? "adopted" : "began";
    return after.phase === "ended" ? "ended" : null;
  }
  if (before.mergedInto === null && after.mergedInto !== null) return "merged";
  const known = before.agent === null && after.agent !== null;
  if (before.phase === after.phase) return known && after.phase === "ended" ? "seen" : null;
  if (after.phase === "ended") return "ended";
  return before.phase === "ended" ? "resumed" : "began";
}
