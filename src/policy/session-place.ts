import { mkdirSync, renameSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileKey, namesIn, remove } from "../ledger/files.ts";
import type { ResolvedPolicy } from "./resolve-policy.ts";

/** A place that no session has looked at for this long is of a session that nobody resumes. */
const KEPT_MS = 90 * 24 * 3_600_000;

/** Where SessionStart writes down, by session, what only hooks are told: the data folder and the policy in force. */
export function placesFolder(configFolder: string): string {
  return join(configFolder, "spawn-guard", "places");
}

/** Leaves a session's place for the CLI, which a Bash call runs without the host's variables. */
export function writePlace(
  configFolder: string,
  sessionId: string,
  dataFolder: string,
  { policy, origins }: ResolvedPolicy,
  now: number,
): void {
  const folder = placesFolder(configFolder);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  const file = join(folder, `${fileKey(sessionId)}.json`);
  const temporary = `${file}.${process.pid}`;
  writeFileSync(temporary, `${JSON.stringify({ data_folder: dataFolder, policy, origins })}\n`, {
    mode: 0o600,
  });
  renameSync(temporary, file);
  for (const name of namesIn(folder)) {
    const written = statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs ?? now;
    if (now - written > KEPT_MS) remove(join(folder, name));
  }
}
