import { type ChildProcess, spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { Chain } from "../../../src/acs/chain.ts";
import { segmentsOf } from "../../../src/acs/chain-files.ts";
import { verifyChain } from "../../../src/acs/verify-chain.ts";
import { ACTOR, callStep, rootStep } from "../../support/chain-steps.ts";
import { receiptsIn } from "../../support/receipts.ts";
import { patience, rounds } from "./rounds.ts";

const ROUNDS = rounds("ROUNDS", 1);
const WRITERS = 40;
const TIMES = 25;

const root = mkdtempSync(join(tmpdir(), "spawn-guard-chain-race-"));
const script = join(root, "appending-child.cjs");

beforeAll(() =>
  build({
    entryPoints: [join(import.meta.dirname, "appending-child.ts")],
    outfile: script,
    bundle: true,
    platform: "node",
    format: "cjs",
    define: { __VERSION__: '"test"' },
  }),
);
afterAll(() => rmSync(root, { recursive: true, force: true }));

type Writer = { child: ChildProcess; said: () => string[]; over: Promise<number | null> };

function writer(folder: string, name: string): Writer {
  const child = spawn(process.execPath, [script, folder, name, String(TIMES)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let text = "";
  child.stdout?.setEncoding("utf8").on("data", (more: string) => {
    text += more;
  });
  const over = new Promise<number | null>((resolve, reject) => {
    child.on("close", resolve);
    child.on("error", reject);
  });
  // Only whole lines count: a process can be killed in the middle of one.
  return { child, over, said: () => text.split("\n").slice(0, -1) };
}

function writers(round: number, kind: string): { folder: string; all: Writer[] } {
  const folder = join(root, `${kind}-${round}`, "audit", "session", ACTOR.session);
  return { folder, all: Array.from({ length: WRITERS }, (_, index) => writer(folder, `w${index}`)) };
}

const idOf = (call: string) => callStep(call).request.id;
const verify = (folder: string) => verifyChain(folder, ACTOR.session, null, () => {});

describe("one chain and many processes (case 118)", () => {
  it(
    `holds ${WRITERS} × ${TIMES} entries in one line, none lost and none twice`,
    patience(ROUNDS * 4),
    async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const { folder, all } = writers(round, "race");
        expect(await Promise.all(all.map(({ over }) => over))).toEqual(all.map(() => 0));
        const calls = Array.from(
          { length: WRITERS * TIMES },
          (_, index) => `w${index % WRITERS}.${Math.floor(index / WRITERS)}`,
        );
        // A note is a false alarm here: nothing was torn, nothing lost.
        expect(all.flatMap(({ said }) => said()).sort()).toEqual([...calls].sort());
        const receipts = receiptsIn(folder);
        expect(receipts).toHaveLength(calls.length + 1);
        expect(new Set(receipts.map(({ entry }) => entry.previous_hash)).size).toBe(calls.length + 1);
        expect(new Set(receipts.map(({ request }) => request.id))).toEqual(
          new Set([rootStep().request.id, ...calls.map(idOf)]),
        );
        expect(segmentsOf(folder).length).toBeGreaterThan(3);
        expect(verify(folder)).toMatchObject({ broken: null, entries: calls.length + 1, notices: [] });
      }
    },
  );

  it("can be verified at any moment while they write", patience(ROUNDS * 4), async () => {
    const { folder, all } = writers(0, "watched");
    let seen = 0;
    const look = () => {
      const { broken, entries } = verify(folder);
      expect(broken).toBeNull();
      expect(entries).toBeGreaterThanOrEqual(seen);
      seen = entries;
    };
    // As soon as some have written their first, while most of the others are at it.
    const looks = all
      .filter((_, index) => index % 4 === 0)
      .map(({ child }) => new Promise((done) => child.stdout?.once("data", done)).then(look));
    expect(await Promise.all(all.map(({ over }) => over))).toEqual(all.map(() => 0));
    await Promise.all(looks);
    expect(verify(folder)).toMatchObject({ broken: null, entries: WRITERS * TIMES + 1 });
  });

  it(
    "holds what each had said when it was killed, once, and the next writer mends it",
    patience(ROUNDS * 4),
    async () => {
      for (let round = 0; round < ROUNDS; round++) {
        const { folder, all } = writers(round, "kill");
        for (const { child, said } of all.slice(1)) {
          const last = 1 + Math.floor(Math.random() * TIMES);
          child.stdout?.on("data", () => said().length >= last && child.kill("SIGKILL"));
        }
        await Promise.all(all.map(({ over }) => over));
        expect(verify(folder).broken).toBeNull();
        const chain = new Chain(folder, { signer: null, deadline: Date.now() + 10_000 });
        chain.append([callStep("next")], rootStep);
        expect(verify(folder)).toMatchObject({ broken: null, notices: [] });
        const ids = receiptsIn(folder).map(({ request }) => request.id);
        expect(new Set(ids).size).toBe(ids.length);
        const said = all.flatMap((one) => one.said()).map((line) => idOf(line.split(" ")[0] ?? ""));
        expect(ids).toEqual(expect.arrayContaining([...said, idOf("next")]));
        // At most one more of each than it had said.
        expect(ids.length - 2 - said.length).toBeLessThanOrEqual(WRITERS);
      }
    },
  );
});
