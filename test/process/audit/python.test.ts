import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import canonicalize from "canonicalize";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { denial, type HookResult, HookSession } from "../../support/hook-session.ts";
import { HAS_PYTHON, NEEDS_PYTHON, python, recomputed } from "../../support/python-audit.ts";

const KEY = "a key of the deployment, in 40 characters";
const OUTER = { agent_id: "a1", agent_type: "general-purpose" };
const INNER = { agent_id: "a2", agent_type: "general-purpose" };
const ADOPTED = { agent_id: "a3", agent_type: "workflow-subagent" };

const SESSION = "5e551000-0000-4000-8000-00000000beef";

const sessions: HookSession[] = [];
const folder = mkdtempSync(join(tmpdir(), "spawn-guard-python-"));
const keyFile = join(folder, "key");
writeFileSync(keyFile, KEY);

afterAll(() => {
  for (const session of sessions) session.remove();
  rmSync(folder, { recursive: true, force: true });
});

const answers: HookResult[] = [];

async function send(session: HookSession, event: Record<string, unknown>): Promise<void> {
  for (const answer of await session.send(event)) {
    expect(answer).toMatchObject({ exitCode: 0, stderr: "" });
    answers.push(answer);
  }
}

/** A nested spawn, one that is refused, one that runs on after its end, one that no call asked for. */
async function run(options: Record<string, string> = {}, environment: Record<string, string> = {}) {
  const session = new HookSession(SESSION, options);
  sessions.push(session);
  Object.assign(session.environment, environment);
  const stop = (agent: object) => session.event("SubagentStop", { ...agent, last_assistant_message: "done" });
  const read = { tool_name: "Read", tool_use_id: "r1", tool_input: { file_path: "x" } };
  answers.length = 0;
  for (const event of [
    session.event("SessionStart", { source: "startup" }),
    session.agentCall("toolu_é1"),
    session.event("SubagentStart", OUTER),
    session.launched("toolu_é1", "a1"),
    session.agentCall("t2", OUTER, { prompt: "one ❤ \u0007 \u{1f600} more", description: "the inner part" }),
    session.event("SubagentStart", INNER),
    session.launched("t2", "a2", OUTER),
    session.event("PreToolUse", { ...INNER, ...read }),
    stop(INNER),
    session.agentCall("t3", OUTER, { prompt: "<spawn_payload>\n{}\n</spawn_payload>" }),
    stop(OUTER),
    session.event("SubagentStart", OUTER),
    stop(OUTER),
    session.event("SubagentStart", ADOPTED),
    session.event("PreToolUse", { ...ADOPTED, ...read, tool_use_id: "r2" }),
    stop(ADOPTED),
    session.event("SessionEnd", { reason: "other" }),
    session.event("SessionStart", { source: "resume" }),
    session.agentCall("t4"),
    session.event("SessionEnd", { reason: "other" }),
  ]) {
    await send(session, event);
  }
  expect(answers.map(denial).filter((reason) => reason !== null)).toHaveLength(1);
  return session;
}

const auditOf = (session: HookSession) => join(session.data, "audit", session.sessionId);

describe.skipIf(!HAS_PYTHON)(`the second implementation of the audit's rules${NEEDS_PYTHON}`, () => {
  it("passes its own tests", () => {
    const { exitCode, stderr } = python(["-m", "unittest", "discover", "-s", "."]);
    expect(stderr).toMatch(/\nRan [3-9]\d tests in .*\n\nOK/);
    expect(exitCode).toBe(0);
  });

  it("writes any value as the library does that the hooks use", () => {
    const values = fc.sample(fc.jsonValue({ stringUnit: "binary" }), { numRuns: 2000, seed: 8785 });
    const numbers = fc.sample(fc.double({ noNaN: true, noDefaultInfinity: true }), {
      numRuns: 2000,
      seed: 754,
    });
    const all = [...values, ...numbers];
    const program =
      "import sys; from jcs import *; [print(canonical(parse(l)).decode()) for l in sys.stdin.buffer.read().decode().split('\\n')]";
    const { stdout, stderr } = python(["-c", program], all.map((value) => JSON.stringify(value)).join("\n"));
    expect(stderr).toBe("");
    expect(stdout.trimEnd().split("\n")).toEqual(all.map((value) => canonicalize(value)));
  });
});

describe.skipIf(!HAS_PYTHON)(`what real hooks record, recomputed in Python${NEEDS_PYTHON}`, () => {
  const sound = { exitCode: 0, problems: [], notices: [], pending: [], chains: 4, lines: 26 };

  it.each<[string, Record<string, string>]>([
    ["without a key", {}],
    ["with content", { audit_content: "on" }],
  ])("is sound %s", async (_, options) => {
    const session = await run(options);
    expect(recomputed(auditOf(session))).toMatchObject({
      ...sound,
      signatures: { checked: 0, unchecked: 0, unsigned: 52 },
      steps: { "steps/sessionStart": 4, "steps/toolCallRequest": 4, "steps/subagentStart": 6 },
    });
  });

  it("is signed throughout with a key in the environment, and by that key alone", async () => {
    const session = await run({}, { SPAWN_GUARD_AUDIT_KEY: KEY });
    const signatures = { checked: 52, unchecked: 0, unsigned: 0 };
    expect(recomputed(auditOf(session), keyFile)).toMatchObject({ ...sound, signatures });
    const other = join(folder, "other");
    writeFileSync(other, KEY.replace("a key", "a kex"));
    const { exitCode, problems } = recomputed(auditOf(session), other);
    expect({ exitCode, problems: problems.length }).toEqual({ exitCode: 1, problems: 52 });
  });

  it.each([
    ["hexadecimal", `${Buffer.from(KEY).toString("hex")}\n`],
    ["base64", Buffer.from(KEY).toString("base64")],
  ])("is signed throughout with a key file of %s", async (form, content) => {
    const file = join(folder, form);
    writeFileSync(file, content, { mode: 0o600 });
    const session = await run({ audit_key_file: file });
    expect(recomputed(auditOf(session), file)).toMatchObject({ ...sound, signatures: { checked: 52 } });
  });
});

describe.skipIf(!HAS_PYTHON)(`what was changed afterwards, found in Python${NEEDS_PYTHON}`, () => {
  let original: string;
  let lines: string[];
  const segment = (audit: string) => join(audit, SESSION, "000001.jsonl");

  beforeAll(async () => {
    original = auditOf(await run({}, { SPAWN_GUARD_AUDIT_KEY: KEY }));
    lines = readFileSync(segment(original), "utf8").split(/(?<=\n)/);
  });

  /** A copy of the run in which the main thread's chain holds this. */
  function changedFolder(text: string | Buffer): string {
    const audit = join(mkdtempSync(join(folder, "copy-")), SESSION);
    cpSync(original, audit, { recursive: true });
    writeFileSync(segment(audit), text);
    return audit;
  }

  /** What is said of such a copy, without the key and with it. */
  function changed(text: string | Buffer): { exitCode: number | null; problems: string[] }[] {
    const audit = changedFolder(text);
    return [recomputed(audit), recomputed(audit, keyFile)].map(({ exitCode, problems }) => ({
      exitCode,
      problems: problems.map(({ line, what }) => `${line}: ${what}`),
    }));
  }

  const NOT_CHAINED = "line_hash is not the hash of this line and the one before";

  it("nothing, where nothing was", () => {
    expect(changed(lines.join(""))).toEqual(Array(2).fill({ exitCode: 0, problems: [] }));
  });

  it("a byte of any line", () => {
    const bytes = Buffer.from(lines.join(""));
    let start = 0;
    for (const [index, line] of lines.entries()) {
      const copy = Buffer.from(bytes);
      const place = start + ((index * 211) % (line.length - 1));
      copy[place] = (copy[place] ?? 0) ^ 1;
      for (const { exitCode, problems } of changed(copy)) {
        expect(exitCode).toBe(1);
        expect(problems.join("\n")).toMatch(new RegExp(`^${index + 1}: `, "m"));
      }
      start += Buffer.byteLength(line);
    }
  });

  it("a line that was dropped", () => {
    for (const { exitCode, problems } of changed(lines.toSpliced(2, 1).join(""))) {
      expect(exitCode).toBe(1);
      expect(problems).toContain(`3: ${NOT_CHAINED}`);
    }
  });

  it("two lines that were swapped", () => {
    const [second = "", third = ""] = lines.slice(1, 3);
    for (const { exitCode, problems } of changed(lines.toSpliced(1, 2, third, second).join(""))) {
      expect(exitCode).toBe(1);
      expect(problems).toEqual(expect.arrayContaining([`2: ${NOT_CHAINED}`, `3: ${NOT_CHAINED}`]));
    }
  });

  it.each([1, 3, 5])("a tail that was cut off after line %i", (kept) => {
    for (const { exitCode, problems } of changed(lines.slice(0, kept).join(""))) {
      expect(exitCode).toBe(1);
      expect(problems.join("\n")).toContain("before the head's lines at");
    }
  });

  it("a chain whose hashes were all made anew, by its signatures", () => {
    const forged = python(["-c", FORGE], lines.join(""));
    expect(forged.stderr).toBe("");
    for (const [index, { exitCode, problems }] of changed(forged.stdout).entries()) {
      expect(exitCode).toBe(1);
      expect(problems.filter((problem) => problem.endsWith(NOT_CHAINED))).toEqual([]);
      const unsigned = problems.filter((problem) => problem.endsWith("is not by the key of this chain"));
      expect(unsigned.length).toBe(index === 0 ? 0 : 2 * lines.length);
    }
  });

  it("not the last lines, where the head still holds them: those are not written yet", () => {
    const { exitCode, problems, pending } = recomputed(changedFolder(lines.slice(0, -1).join("")), keyFile);
    expect({ exitCode, problems }).toEqual({ exitCode: 0, problems: [] });
    expect(pending).toMatchObject([{ file: "000001.jsonl", line: lines.length }]);
  });
});

/** Changes who the first agent was, and makes every hash that follows from it anew, but no signature. */
const FORGE = `
import sys
from jcs import canonical, parse
from sealing import entry_hash, line_hash, request_hash
entry = line = None
for text in sys.stdin.buffer.read().decode().splitlines():
    value = parse(text)
    params, result = value["request"]["params"], value["response"]["result"]
    params["metadata"]["agent_name"] = "somebody else"
    value["entry"].update(request_hash=request_hash(params), previous_hash=entry)
    entry = value["entry"]["entry_hash"] = result["chain_hash"] = entry_hash(value["entry"])
    line = value["line_hash"] = line_hash(value, line)
    print(canonical(value).decode())
`;
