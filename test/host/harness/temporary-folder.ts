import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const made = new Set<string>();

process.once("exit", () => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
});

/** A fresh folder that is gone when this process ends; SPAWN_GUARD_KEEP=1 keeps it for a look. */
export function temporaryFolder(kind: string): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), `spawn-guard-${kind}-`)));
  if (process.env.SPAWN_GUARD_KEEP === undefined) made.add(folder);
  return folder;
}
