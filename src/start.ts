import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Script } from "node:vm";
import { readStandardInput } from "./hooks/standard-input.ts";

/** What stands around a script's source, so that it gets what a CommonJS module gets, and a hook's input. */
const OPENING = "(function (require, __dirname, __filename, __input) {";
const CLOSING = "\n})";
/** The script of the one hook whose failure must refuse what it was asked about. */
const SPAWN_SCRIPT = "pre-tool-use-agent.cjs";
/** A character that no serializer has to escape: letters that are written so may spell any word. */
const ESCAPED = /\\u00[2-7]/;

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

/** Runs a compiled script; `input` is its standard input where that has been read already. */
export function run(script: Script, file: string, input?: Uint8Array): void {
  script.runInThisContext()(require, dirname(file), file, input);
}

/**
 * Starts a built script from its compiled code: half of what it costs to start one is compiling it. One that cannot
 * be started exits with `failing`.
 */
export function start(file: string, failing: number, input?: Uint8Array): void {
  try {
    const cache = codeCacheOf(file);
    run(compile(file, existsSync(cache) ? readFileSync(cache) : undefined), file, input);
  } catch (error) {
    process.stderr.write(`spawn-guard cannot run ${file}: ${error}\n`);
    process.exitCode = failing;
  }
}

/**
 * Starts a hook's script; when words are given, only if the hook's input holds one of them, as run.sh does.
 * A hook never exits with 1, which a host takes for consent: a spawn that nobody can judge is refused.
 */
export function startHook(folder: string, script = "", ...words: readonly string[]): void {
  let input: Buffer | undefined;
  try {
    if (words.length > 0) input = readStandardInput();
  } catch {
    // The hook finds the same, and knows what to say.
  }
  if (input !== undefined && !holdsOne(input, words)) return;
  start(join(folder, script), script === SPAWN_SCRIPT ? 2 : 0, input);
}

function holdsOne(input: Buffer, words: readonly string[]): boolean {
  // Shells drop NULs.
  const text = input.toString("latin1").replaceAll("\0", "");
  return ESCAPED.test(text) || words.some((word) => text.includes(word));
}
