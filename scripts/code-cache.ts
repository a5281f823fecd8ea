import { writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { codeCacheOf, compile, run } from "../src/start.ts";

/**
 * `node code-cache.cjs SCRIPT [ARGUMENT...]` runs a built script on what stands on standard input, and keeps the
 * code that V8 compiled on the way beside it: what a usual event needs is then there when the next process starts.
 */
const [file = "", ...rest] = process.argv.slice(2);
const script = compile(file);
process.argv = [process.argv[0] ?? "node", join(file, "..", basename(file)), ...rest];
process.on("exit", () => writeFileSync(codeCacheOf(file), script.createCachedData()));
run(script, file);
