import { existsSync, readFileSync } from "node:fs";
import { dirname } from "node:path";
import { Script } from "node:vm";

/** What stands around a script's source, so that it gets what a CommonJS module gets. */
const OPENING = "(function (require, __dirname, __filename) {";
const CLOSING = "\n})";

/** Where the code that V8 compiled from a script at build is kept (scripts/code-cache.ts). */
export function codeCacheOf(file: string): string {
  return `${file}.cache`;
}

/** A built script, from its compiled code where that was made by this very version of V8, else from its source. */
export function compile(file: string): Script {
  const cache = codeCacheOf(file);
  return new Script(OPENING + readFileSync(file, "utf8") + CLOSING, {
    filename: file,
    ...(existsSync(cache) ? { cachedData: readFileSync(cache) } : {}),
  });
}

/** Runs a built script: half of what it costs to start one is compiling it. */
export function start(script: Script, file: string): void {
  script.runInThisContext()(require, dirname(file), file);
}
