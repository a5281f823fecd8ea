import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { Chain } from "../../../src/acs/chain.ts";
import { rootSession } from "../../../src/acs/session-id.ts";
import { callStep } from "../../support/chain-steps.ts";
import { denial, HookSession, updatedInput } from "../../support/hook-session.ts";
import { chainFolder, chainsFolder, mainChain, stepsOf, verified } from "../../support/receipts.ts";

let session: HookSession;
const outside = mkdtempSync(join(tmpdir(), "spawn-guard-outside-"));
afterEach(() => {
  session.remove();
  rmSync(outside, { recursive: true, force: true });
  mkdirSync(outside);
});

const WARNED = /could not write its audit chain \(.*\); the gap is noted/;

/** Moves a path out of the data folder and leaves a link to it. */
function linked(path: string): void {
  const moved = join(outside, "moved");
  if (existsSync(path)) renameSync(path, moved);
  else mkdirSync(moved);
  symlinkSync(moved, path);
}

function replaced(path: string, by: (path: string) => void): void {
  rmSync(path, { recursive: true, force: true });
  mkdirSync(dirname(path), { recursive: true });
  by(path);
}

const asFile = (path: string) => replaced(path, (at) => writeFileSync(at, ""));
const asPipe = (path: string) => replaced(path, (at) => execFileSync("mkfifo", [at]));

const SPOILT: [string, (at: { chain: string; session: string }) => void][] = [
  ["a file in place of the audit folder", ({ session }) => asFile(dirname(session))],
  ["a file in place of the session's folder", ({ session }) => asFile(session)],
  ["a file in place of the chain's folder", ({ chain }) => asFile(chain)],
  ["a file in place of the head", ({ chain }) => asFile(join(chain, "head"))],
  [
    "a folder in place of the segment",
    ({ chain }) => replaced(join(chain, "000001.jsonl"), (at) => mkdirSync(at)),
  ],
  ["a pipe in place of the segment", ({ chain }) => asPipe(join(chain, "000001.jsonl"))],
  ["a link in place of the audit folder", ({ session }) => linked(dirname(session))],
  ["a link in place of the session's folder", ({ session }) => linked(session)],
  ["a link in place of the chain's folder", ({ chain }) => linked(chain)],
  ["a link in place of the head", ({ chain }) => linked(join(chain, "head"))],
  ["a link in place of the segment", ({ chain }) => linked(join(chain, "000001.jsonl"))],
  [
    "a link to nowhere in place of the chain's folder",
    ({ chain }) => replaced(chain, (at) => symlinkSync("/nowhere/at/all", at)),
  ],
];

function everything(folder: string): string {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .sort()
    .map((file) => `${file}\n${readFileSync(file, "latin1")}`)
    .join("\n");
}

describe.each([
  ["before the first receipt", false],
  ["in a chain that has been begun", true],
])("a chain that cannot be written, %s (case 128)", (_, begun) => {
  async function spoiltSession(audit: string, spoil: (at: { chain: string; session: string }) => void) {
    session = new HookSession(undefined, { audit });
    if (begun) await session.ask(session.event("SessionStart", { source: "startup" }));
    else mkdirSync(chainFolder(session), { recursive: true });
    const at = { chain: chainFolder(session), session: chainsFolder(session) };
    if (!begun && existsSync(join(at.chain, "000001.jsonl"))) throw new Error("a receipt too early");
    spoil(at);
    return everything(outside);
  }

  it.each(SPOILT)("refuses spawns under audit: require, and follows no link: %s", async (_, spoil) => {
    const before = await spoiltSession("require", spoil);
    const result = await session.ask(session.agentCall("c1"));
    expect(result).toMatchObject({ exitCode: 0, stderr: "" });
    expect(denial(result)).toContain("not be recorded");
    expect(result.json?.systemMessage).toMatch(WARNED);
    expect(session.ledger().session).toMatchObject({ admitted: 0, running: {} });
    expect(everything(outside)).toBe(before);
  });

  it.each(SPOILT)(
    "lets them through with a warning by default, and follows no link: %s",
    async (_, spoil) => {
      const before = await spoiltSession("warn", spoil);
      const result = await session.ask(session.agentCall("c1"));
      expect(result).toMatchObject({ exitCode: 0, stderr: "" });
      expect(updatedInput(result)).not.toBeNull();
      expect(result.json?.systemMessage).toMatch(WARNED);
      expect(session.ledger().session.auditGap).toMatchObject({ missed: 1 });
      expect(everything(outside)).toBe(before);
    },
  );
});

describe("the gap that an unwritable chain leaves", () => {
  it("is counted, stands in the next receipt that is written, and is cleared by that alone", async () => {
    session = new HookSession();
    await session.ask(session.event("SessionStart", { source: "startup" }));
    const chain = chainFolder(session);
    renameSync(chain, join(session.data, "kept"));
    writeFileSync(chain, "");
    await session.ask(session.agentCall("c1"));
    await session.ask(session.agentCall("c2"));
    rmSync(chain);
    renameSync(join(session.data, "kept"), chain);

    // Nothing is written for a session that goes on, so nothing is told.
    await session.ask(session.event("SessionStart", { source: "compact" }));
    expect(session.ledger().session.auditGap).toMatchObject({ missed: 2 });

    const next = await session.ask(session.agentCall("c3"));
    expect(next.json?.systemMessage).toBeUndefined();
    const [, call, start] = mainChain(session);
    const gap = { missed: 2, since: expect.any(Number), why: expect.stringContaining(chain) };
    expect(call?.request.params.metadata).toMatchObject({ spawn_guard: { audit_gap: gap } });
    expect(start?.request.params.metadata).toMatchObject({ spawn_guard: { audit_gap: gap } });
    expect(session.ledger().session.auditGap).toBeNull();
    await session.ask(session.agentCall("c4"));
    expect(JSON.stringify(mainChain(session).slice(3))).not.toContain("audit_gap");

    const { broken, notices } = verified(session);
    expect(broken).toEqual([]);
    expect(notices).toHaveLength(2);
    for (const notice of notices) expect(notice).toContain("its decision was not recorded");
  });
});

describe("a disk that is full (case 128)", () => {
  it("keeps every answer and its receipt together: what the head has claimed is recorded, what it has not is refused", async () => {
    session = new HookSession(undefined, { audit: "require" });
    await session.ask(session.event("SessionStart", { source: "startup" }));
    const chain = new Chain(chainFolder(session), { signer: null, deadline: Date.now() + 10_000 });
    const actor = { session: rootSession(session.sessionId), agent: "main", name: "claude-code" };
    const noRoot = () => {
      throw new Error("the chain has a root");
    };
    for (let index = 0; index < 60; index++)
      chain.append([callStep(`fill${index}`, "Bash", {}, actor)], noRoot);
    const before = mainChain(session).length;

    const first = await withFileLimit(session.agentCall("c1"));
    expect(first).toMatchObject({ exitCode: 0, stderr: "" });
    expect(first.stdout).toContain("updatedInput");
    expect(first.stdout).toContain("until it can, the head holds its last lines");
    expect(verified(session)).toMatchObject({
      broken: [],
      notices: [expect.stringContaining("not written yet")],
    });

    const second = await withFileLimit(session.agentCall("c2"));
    expect(second.stdout).toContain("not be recorded");

    expect(updatedInput(await session.ask(session.agentCall("c3")))).not.toBeNull();
    const added = mainChain(session).slice(before);
    expect(stepsOf(added)).toEqual(["toolCallRequest", "subagentStart", "toolCallRequest", "subagentStart"]);
    expect(JSON.stringify(added.slice(2))).toContain('"audit_gap":{"missed":');
    expect(verified(session).broken).toEqual([]);
  });
});

/** Runs the hook of an Agent call where no file may grow beyond 32 KiB, as on a full disk: writes fail with EFBIG. */
async function withFileLimit(
  event: Record<string, unknown>,
): Promise<{ exitCode: number | null; stdout: string; stderr: string }> {
  const script = `ulimit -f 64; exec "${process.execPath}" "${resolve("plugin/hooks/start.cjs")}" pre-tool-use-agent.cjs`;
  const child: ChildProcess = spawn("sh", ["-c", script], { env: session.environment, cwd: session.project });
  let stdout = "";
  let stderr = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.stdin?.end(JSON.stringify(event));
  return new Promise((done) => child.on("close", (exitCode) => done({ exitCode, stdout, stderr })));
}

describe.skipIf(process.getuid?.() === 0)("a folder that may only be read", () => {
  it("refuses spawns under audit: require", async () => {
    session = new HookSession(undefined, { audit: "require" });
    await session.ask(session.event("SessionStart", { source: "startup" }));
    for (const folder of [join(chainFolder(session), "head"), chainFolder(session)]) chmodSync(folder, 0o500);
    expect(denial(await session.ask(session.agentCall("c1")))).toContain("not be recorded");
    for (const folder of [join(chainFolder(session), "head"), chainFolder(session)]) chmodSync(folder, 0o700);
  });
});
