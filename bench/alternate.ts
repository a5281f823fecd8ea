import { spawnSync } from "node:child_process";

export type Command = { file: string; args: readonly string[]; input?: string; env?: NodeJS.ProcessEnv };

/**
 * Runs commands in turn, A B C A B C …, so that a machine whose speed drifts slows all of them, and gives the
 * median time of each in milliseconds. `prepare` runs before each timed command and is not timed.
 */
export function medians(
  commands: readonly Command[],
  rounds: number,
  prepare: (index: number) => void = () => {},
): number[] {
  const times: number[][] = commands.map(() => []);
  for (let round = -1; round < rounds; round++) {
    commands.forEach((command, index) => {
      prepare(index);
      const started = performance.now();
      const { status, error } = spawnSync(command.file, command.args, {
        input: command.input ?? "",
        env: command.env,
      });
      const took = performance.now() - started;
      if (error !== undefined || status !== 0)
        throw new Error(`${command.file} ${command.args.join(" ")} failed`);
      // The first round warms the file cache and does not count.
      if (round >= 0) times[index]?.push(took);
    });
  }
  return times.map(median);
}

function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
}
