import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterAll } from "vitest";
import type { ContextIo } from "../../../src/cli/context-command.ts";
import { decodeText } from "../../../src/cli/decode-text.ts";
import { readRegularFile } from "../../../src/cli/read-bytes.ts";
import { PLUGIN_ROOT } from "./world.ts";

const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A fresh project with these files, in a home folder of its own, on a given day. */
export function aContextWorld(files: Record<string, string | Uint8Array>): ContextIo & { home: string } {
  const home = mkdtempSync(join(tmpdir(), "context-"));
  folders.push(home);
  const cwd = join(home, "project");
  mkdirSync(cwd);
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(cwd, path)), { recursive: true });
    writeFileSync(join(cwd, path), content);
  }
  return {
    cwd,
    home,
    configFolder: join(home, ".claude"),
    agentsDir: `${PLUGIN_ROOT}agents`,
    places: [],
    now: () => new Date("2026-04-27T12:00:00Z"),
    read: (path) => decodeText(readRegularFile(path)),
  };
}
