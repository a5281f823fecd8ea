import type { SessionState } from "../src/ledger/session-state.ts";
import type { SpawnRecord } from "../src/ledger/spawn-record.ts";

/** A session's spawns as an indented tree, one line a spawn, and what was refused. */
export function sessionTree(session: SessionState, spawns: readonly SpawnRecord[]): string {
  const below = (parent: string | null, indent: string): string[] =>
    spawns
      .filter((spawn) => spawn.parent === parent)
      .flatMap((spawn) => [`${indent}${line(spawn)}`, ...below(spawn.trace, `${indent}  `)]);
  const refused = session.refusals.map(
    ({ code, times }) => `refused: ${code}${times > 1 ? `, ${times} times` : ""}`,
  );
  return ["main thread", ...below(null, "  "), ...refused].join("\n");
}

function line({ trace, role, depth, phase, outcome }: SpawnRecord): string {
  return `${trace}  ${role}  depth ${depth}  ${outcome ?? phase}`;
}
