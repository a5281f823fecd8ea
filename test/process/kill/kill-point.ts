import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";

/** What changes files: a process killed between two of these leaves what the earlier ones did. */
const CHANGES = [
  "appendFileSync",
  "linkSync",
  "mkdirSync",
  "renameSync",
  "rmSync",
  "unlinkSync",
  "writeFileSync",
  "writeSync",
];
const READS = ["closeSync", "existsSync", "openSync", "readFileSync", "readSync", "readdirSync", "statSync"];

class Killed extends Error {}

type Sync = (...args: unknown[]) => unknown;

/**
 * Runs `act` as in a process that is killed right before its change number `point` of files (from 1): that change
 * and everything after it fails. Gives back how many changes there were, and what `act` gave back if it lived.
 */
export async function killedBefore<T>(
  point: number,
  act: () => Promise<T>,
): Promise<{ changes: number; result: T | null }> {
  let changes = 0;
  let dead = false;
  const table = fs as unknown as Record<string, Sync>;
  const originals = new Map<string, Sync>();
  for (const name of [...CHANGES, ...READS]) {
    const real = table[name];
    if (real === undefined) throw new Error(`node:fs has no ${name}`);
    originals.set(name, real);
    table[name] = (...args) => {
      if (!dead && CHANGES.includes(name)) {
        changes += 1;
        dead = changes === point;
      }
      if (dead) throw new Killed(`killed before change ${point}`);
      return real(...args);
    };
  }
  syncBuiltinESMExports();
  try {
    const result = await act();
    return { changes, result: dead ? null : result };
  } catch (error) {
    if (!dead) throw error;
    return { changes, result: null };
  } finally {
    for (const [name, real] of originals) table[name] = real;
    syncBuiltinESMExports();
  }
}
