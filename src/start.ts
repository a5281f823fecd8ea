import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { Script } from "node:vm";
import { readStandardInput } from "./hooks/standard-input.ts";

/** What stands around a script's source, so that it gets what a CommonJS module gets, and a hook's input. */
const OPENING = "(function (require, module, __dirname, __filename, __input) {";
const CLOSING = "\n})";
/** The script of the one hook whose failure must refuse what it was asked about. */
const SPAWN_SCRIPT = "pre-tool-use-agent.cjs";
/** A character that no serializer has to escape: letters that are written so may spell any word. */
const ESCAPED = /\\u00[2-7]/;

/** Where the code that V8 compiled from a script at build is kept (scripts/code-cache.ts). */
export function codeCacheOf(file: string): string {
  return `${file}.cache`;
}

/** Told of every script that is compiled; the build keeps what V8 made of it. */
export type Compiled = (file: string, script: Script) => void;

/**
 * Runs a built script and returns what it exports. Compiling is half of what it costs to start one, so the code that
 * V8 compiled from this very source at build is used; V8 takes it only from its own version and flags, and compiles
 * the source otherwise. The parts that a script loads are run alike. `input` is its standard input where that has been
 * read already.
 */
export function run(file: string, input?: Uint8Array, compiled: Compiled = () => {}): unknown {
  const cache = codeCacheOf(file);
  const script = new Script(OPENING + readFileSync(file, "utf8") + CLOSING, {
    filename: file,
    ...(existsSync(cache) ? { cachedData: readFileSync(cache) } : {}),
  });
  compiled(file, script);
  const folder = dirname(file);
  const parts = new Map<string, unknown>();
  const load = (name: string) => {
    if (!name.startsWith(".")) return require(name);
    if (!parts.has(name)) parts.set(name, run(join(folder, name), undefined, compiled));
    return parts.get(name);
  };
  const module = { exports: {} };
  script.runInThisContext()(load, module, folder, file, input);
  return module.exports;
}

/** Starts a built script; one that cannot be started exits with `failing`. */
export function start(file: string, failing: number, input?: Uint8Array): void {
  try {
    run(file, input);
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
