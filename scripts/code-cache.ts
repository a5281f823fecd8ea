import { writeFileSync } from "node:fs";
import type { Script } from "node:vm";
import { codeCacheOf, run } from "../src/start.ts";

/**
 * `node code-cache.cjs SCRIPT [ARGUMENT...]` runs a built script on what stands on standard input, and keeps the
 * code that V8 has compiled from it and its parts beside them: what a usual event needs is then there when the next
 * process starts.
 */
const [file = "", ...rest] = process.argv.slice(2);
process.argv = [process.argv[0] ?? "node", file, ...rest];
const scripts = new Map<string, Script>();
process.on("exit", () => {
  for (const [from, script] of scripts) writeFileSync(codeCacheOf(from), script.createCachedData());
});
run(file, undefined, (from, script) => scripts.set(from, script));
