import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** The version that the recordings and the facts in the tests were seen on. */
export const CLAUDE_VERSION = "2.1.332";

const REPO = join(dirname(fileURLToPath(import.meta.url)), "../../..");
const PREFIX = join(REPO, ".host");

/**
 * The executable of the real Claude Code: SPAWN_GUARD_CLAUDE, else the one that `installClaude` puts
 * into `.host/`. Throws when neither is there.
 */
export function claudeProgram(): string {
  const chosen = process.env.SPAWN_GUARD_CLAUDE;
  const path = chosen ?? installedPath();
  if (existsSync(path)) return path;
  throw new Error(
    chosen === undefined
      ? `Claude Code ${CLAUDE_VERSION} is not installed at ${path}: call installClaude(), or set SPAWN_GUARD_CLAUDE`
      : `SPAWN_GUARD_CLAUDE names ${path}, which does not exist`,
  );
}

/** Installs Claude Code (about 400 MB) into the git-ignored `.host/` when no executable is there yet. */
export function installClaude(): void {
  if (process.env.SPAWN_GUARD_CLAUDE !== undefined || existsSync(installedPath())) return;
  const spec = `@anthropic-ai/claude-code@${CLAUDE_VERSION}`;
  const args = ["install", "--ignore-scripts", "--no-save", "--prefix", PREFIX, spec];
  const npm = spawnSync("npm", args, { encoding: "utf8" });
  if (npm.error !== undefined) throw new Error(`npm could not be started: ${npm.error.message}`);
  if (npm.status !== 0) throw new Error(`npm ${args.join(" ")} ended with ${npm.status}:\n${npm.stderr}`);
  claudeProgram();
}

function installedPath(): string {
  const name = `claude-code-${process.platform}-${process.arch}`;
  const file = process.platform === "win32" ? "claude.exe" : "claude";
  return join(PREFIX, "node_modules/@anthropic-ai", name, file);
}
