import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";

export type Command = { file: string; args: readonly string[]; input?: string; env?: NodeJS.ProcessEnv };

/**
 * Milliseconds: the median of the time from start to end, the time that 19 of 20 stay within, and the mean of user and
 * system time on all cores.
 */
export type Cost = { wall: number; p95: number; cpu: number | null };

/**
 * Runs commands in turn, A B C A B C …, so that a machine whose speed drifts slows all of them. `prepare` runs before
 * each timed command and is not timed.
 */
export function alternate(
  commands: readonly Command[],
  rounds: number,
  prepare: (index: number) => void = () => {},
): Cost[] {
  const runs: { wall: number; cpu: number | null }[][] = commands.map(() => []);
  for (let round = -1; round < rounds; round++) {
    for (const [index, command] of commands.entries()) {
      prepare(index);
      const run = timed(command);
      // The first round warms the file cache and does not count.
      if (round >= 0) runs[index]?.push(run);
    }
  }
  return runs.map((each) => {
    const walls = each.map(({ wall }) => wall);
    const cpus = each.map(({ cpu }) => cpu).filter((cpu) => cpu !== null);
    return {
      wall: quantile(walls, 0.5),
      p95: quantile(walls, 0.95),
      cpu: cpus.length < each.length ? null : cpus.reduce((sum, cpu) => sum + cpu, 0) / each.length,
    };
  });
}

function timed({ file, args, input = "", env }: Command): { wall: number; cpu: number | null } {
  const cpu = childrenCpu();
  const started = performance.now();
  const { status, error } = spawnSync(file, args, { input, env });
  const wall = performance.now() - started;
  if (error !== undefined || status !== 0) throw new Error(`${file} ${args.join(" ")} failed`);
  const after = childrenCpu();
  return { wall, cpu: cpu === null || after === null ? null : after - cpu };
}

/** Linux counts what ended children have used in hundredths of a second: right on the mean, not for one of them. */
function childrenCpu(): number | null {
  if (process.platform !== "linux") return null;
  const fields = readFileSync("/proc/self/stat", "latin1")
    .replace(/^.*\) /, "")
    .split(" ");
  return (Number(fields[13]) + Number(fields[14])) * 10;
}

/** The value below which that part of all values lies. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
