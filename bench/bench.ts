import { readFileSync, writeFileSync } from "node:fs";
import { loadavg } from "node:os";
import { parseArgs } from "node:util";
import { measure, type Results } from "./measure.ts";
import { ROWS } from "./rows.ts";
import { between, machine, table } from "./table.ts";

const DOCUMENT = "docs/performance.md";
/** MB that a first read of a transcript of 100 MB may take above `node -e 0`. */
const READ_MEMORY = 64;

/** `npm run bench -- [ROUNDS] [--json] [--write]`: measures, and exits with 1 when a bound was missed. */
const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { json: { type: "boolean" }, write: { type: "boolean" } },
});
const rounds = Number(positionals[0] ?? 40);
if (!Number.isSafeInteger(rounds) || rounds < 1)
  throw new Error(`rounds is ${positionals[0]}; give a whole number of 1 or more`);
const about = { rounds, date: new Date().toISOString().slice(0, 10), load: loadavg()[0] ?? 0 };
const results = await measure(rounds);
console.log(
  values.json === true
    ? JSON.stringify({ machine: machine(), ...about, ...results }, null, 2)
    : table(results, about),
);
if (values.write === true)
  writeFileSync(DOCUMENT, between(readFileSync(DOCUMENT, "utf8"), table(results, about)));
for (const problem of missed(results)) console.error(problem);
process.exitCode = missed(results).length === 0 ? 0 : 1;

function missed({ rows, memory, storm }: Results): string[] {
  const over = ROWS.flatMap(({ id, what, against, bound }) => {
    const ratio = rows.find((row) => row.id === id)?.ratio ?? Number.NaN;
    if (bound === null || ratio <= bound) return [];
    return [`missed: ${what} / ${against} is ${ratio.toFixed(2)}, at most ${bound}`];
  });
  const above = memory.firstRead - memory.node;
  if (above > READ_MEMORY)
    over.push(`missed: a first read of 100 MB takes ${above.toFixed(0)} MB, at most ${READ_MEMORY}`);
  if (storm.late > 0) over.push(`missed: ${storm.late} decisions of the storm were not answered in time`);
  return over;
}
