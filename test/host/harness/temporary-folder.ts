import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const ROOT = "spawn-guard-host-";
const kept = process.env.SPAWN_GUARD_KEEP !== undefined;
const folders = join(realpathSync(tmpdir()), kept ? "spawn-guard-kept" : `${ROOT}${process.pid}`);

process.once("exit", () => {
  if (!kept) rmSync(folders, { recursive: true, force: true });
});

// Test runners kill their workers, and then the line above does not run: what the dead left goes here.
for (const name of readdirSync(tmpdir()).filter((name) => name.startsWith(ROOT))) {
  if (!lives(Number(name.slice(ROOT.length)))) rmSync(join(tmpdir(), name), { recursive: true, force: true });
}

/** A fresh folder that is gone when this process ends; SPAWN_GUARD_KEEP=1 keeps it for a look. */
export function temporaryFolder(kind: string): string {
  mkdirSync(folders, { recursive: true });
  return mkdtempSync(join(folders, `${kind}-`));
}

function lives(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
}
