import { cpus } from "node:os";
import type { Cost } from "./alternate.ts";
import type { Results } from "./measure.ts";
import { ROWS, STORM } from "./rows.ts";

const ms = (value: number) => value.toFixed(1);
const cpu = ({ cpu: used }: Cost) => (used === null ? "not countable here" : ms(used));

/** The machine that it ran on, in words: its processor, its cores, Node's version. */
export function machine(): string {
  const [first, ...others] = cpus();
  const model = first?.model.trim() || "unknown processor";
  return `${model}, ${others.length + 1} cores, ${process.platform} ${process.arch}, Node ${process.version}`;
}

/** The results as docs/performance.md has them, between its markers. */
export function table(
  { rows, memory, instructions, storm }: Results,
  { rounds, date, load }: { rounds: number; date: string; load: number },
): string {
  const lines = ROWS.map(({ id, what, against, bound }) => {
    const result = rows.find((row) => row.id === id);
    if (result === undefined) throw new Error(`${id} was not measured`);
    const { ratio, cost, base } = result;
    const cells = [
      what,
      against,
      ratio.toFixed(2),
      bound ?? "",
      ms(cost.wall),
      ms(cost.p95),
      ms(base.wall),
      cpu(cost),
      cpu(base),
    ];
    return `| ${cells.join(" | ")} |`;
  });
  const counted =
    instructions === null
      ? "not countable here"
      : `${Object.entries(instructions)
          .map(([name, count]) => `${name} ${count.toFixed(0)}`)
          .join(", ")} million`;
  return [
    `${machine()}; ${date}; ${rounds} rounds; load at the start ${load.toFixed(1)}`,
    "",
    "| | against | ratio | at most | ms | p95 ms | ms against | CPU ms | CPU ms against |",
    "|---|---|---|---|---|---|---|---|---|",
    ...lines,
    "",
    `- Memory at most, in MB: node ${memory.node.toFixed(0)}, spawn decision ${memory.spawn.toFixed(0)}, metered call ${memory.metered.toFixed(0)}, first read of a transcript of 100 MB ${memory.firstRead.toFixed(0)}`,
    `- Instructions: ${counted}`,
    `- Storm of ${STORM.decisions} spawn decisions from ${STORM.sessions} sessions at once: ${storm.perSecond.toFixed(1)} a second; p50 ${storm.p50.toFixed(0)} ms, p95 ${storm.p95.toFixed(0)} ms, p99 ${storm.p99.toFixed(0)} ms; past the deadline: ${storm.late}`,
  ].join("\n");
}

/** A text with what stands between two markers replaced. */
export function between(text: string, inner: string): string {
  const marked = /(<!-- bench -->\n)[\s\S]*?(\n<!-- \/bench -->)/;
  if (!marked.test(text)) throw new Error("docs/performance.md has no <!-- bench --> … <!-- /bench -->");
  return text.replace(marked, (_, before: string, after: string) => before + inner + after);
}
