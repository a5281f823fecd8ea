import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { patience, rounds } from "./rounds.ts";
import { type Tallies, talliesAt } from "./tallies.ts";

const ROUNDS = rounds("ROUNDS", 2);
const PROCESSES = 12;
const TIMES = 60;

const root = mkdtempSync(join(tmpdir(), "spawn-guard-cell-"));
const script = join(root, "counting-child.cjs");

beforeAll(() =>
  build({
    entryPoints: [join(import.meta.dirname, "counting-child.ts")],
    outfile: script,
    bundle: true,
    platform: "node",
    format: "cjs",
  }),
);
afterAll(() => rmSync(root, { recursive: true, force: true }));

type Counter = { name: string; child: ChildProcess; said: () => number; over: Promise<void> };

function counter(folder: string, name: string): Counter {
  const child = spawn(process.execPath, [script, folder, name, String(TIMES)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (more: string) => {
    text += more;
  });
  const over = new Promise<void>((resolve, reject) => {
    child.on("close", () => resolve());
    child.on("error", reject);
  });
  // Only whole lines count: a process can be killed in the middle of one.
  return { name, child, over, said: () => text.split("\n").length - 1 };
}

/** Reads all the while the counters run, and gives back everything that was not as it has to be. */
async function watch(folder: string, counters: Counter[]): Promise<string[]> {
  const wrong: string[] = [];
  const cell = talliesAt(folder, (file) => wrong.push(`set aside ${file}`));
  const state = { running: true, total: 0 };
  const over = Promise.all(counters.map((counter) => counter.over)).finally(() => {
    state.running = false;
  });
  while (state.running) {
    const { value, lost } = cell.read();
    if (lost) wrong.push("told of a loss");
    if (value !== null && sum(value) !== value.total) wrong.push(`torn: ${JSON.stringify(value)}`);
    if ((value?.total ?? 0) < state.total) wrong.push(`went back from ${state.total}`);
    state.total = value?.total ?? 0;
    await new Promise((resolve) => setImmediate(resolve));
  }
  await over;
  return wrong;
}

function sum({ by }: Tallies): number {
  return Object.values(by).reduce((total, count) => total + count, 0);
}

function start(round: number, kind: string): { folder: string; counters: Counter[] } {
  const folder = join(root, `${kind}-${round}`);
  return { folder, counters: Array.from({ length: PROCESSES }, (_, index) => counter(folder, `p${index}`)) };
}

describe("one cell and many processes", () => {
  it(
    `loses and doubles none of ${PROCESSES} × ${TIMES} changes, and nobody reads half of one`,
    patience(ROUNDS),
    async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const { folder, counters } = start(round, "count");
        expect(await watch(folder, counters)).toEqual([]);
        const by = Object.fromEntries(counters.map(({ name }) => [name, TIMES]));
        expect(talliesAt(folder).read()).toEqual({ value: { total: PROCESSES * TIMES, by }, lost: false });
        expect(readdirSync(folder).filter((name) => name.startsWith("tmp-"))).toEqual([]);
      }
    },
  );

  it("holds what each process had committed when it was killed, and goes on", patience(ROUNDS), async () => {
    for (let round = 0; round < ROUNDS; round++) {
      const { folder, counters } = start(round, "kill");
      for (const { child, said } of counters.slice(1)) {
        const last = 1 + Math.floor(Math.random() * TIMES);
        child.stdout?.on("data", () => said() >= last && child.kill("SIGKILL"));
      }
      expect(await watch(folder, counters)).toEqual([]);
      const { value, lost } = talliesAt(folder).read();
      expect(lost).toBe(false);
      expect(value?.by.p0).toBe(TIMES);
      for (const { name, said } of counters) {
        // The last number may have been committed and not said any more.
        expect([said(), said() + 1], `${name} said ${said()}`).toContain(value?.by[name] ?? 0);
      }
    }
  });
});
