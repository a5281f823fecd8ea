import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Script } from "node:vm";

/** What stands around a script's source, so that it gets what a CommonJS module gets. */
const OPENING = "(function (require, __dirname, __filename) {";
const CLOSING = "\n})";
/** The script of the one hook whose failure must refuse what it was asked about. */
const SPAWN_SCRIPT = "pre-tool-use-agent.cjs";

/** Where the code that V8 compiled from a script at build is kept (scripts/code-cache.ts). */
export function codeCacheOf(file: string): string {
  return `${file}.cache`;
}

/**
 * A built script. `cachedData` is code that V8 compiled from this very source; it takes it only from its own
 * version and flags and compiles the source otherwise.
 */
export function compile(file: string, cachedData?: Buffer): Script {
  return new Script(OPENING + readFileSync(file, "utf8") + CLOSING, {
    filename: file,
    ...(cachedData === undefined ? {} : { cachedData }),
  });
}

/** Runs a compiled script. */
export function run(script: Script, file: string): void {
  script.runInThisContext()(require, dirname(file), file);
}

/**
 * Starts a built script from its compiled code: half of what it costs to start one is compiling it. One that cannot
 * be started exits with `failing`.
 */
export function start(file: string, failing: number): void {
  try {
    const cache = codeCacheOf(file);
    run(compile(file, existsSync(cache) ? readFileSync(cache) : undefined), file);
  } catch (error) {
    process.stderr.write(`spawn-guard cannot run ${file}: ${error}\n`);
    process.exitCode = failing;
  }
}

/** A hook never exits with 1, which a host takes for consent: a spawn that nobody can judge is refused. */
export function startHook(folder: string, script: string): void {
  start(join(folder, script), script === SPAWN_SCRIPT ? 2 : 0);
}
