import {
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { MIN_KEY_BYTES } from "../../../src/acs/signer.ts";
import { runAudit } from "../../../src/cli/audit-command.ts";
import type { CommandResult } from "../../../src/cli/command-result.ts";
import { chainFolder, chainsFolder, mainChain } from "../../support/receipts.ts";
import { DecidedSession, decidedSessions } from "../ledger/decided-session.ts";

const newSession = decidedSessions();
const KEY = "0123456789abcdef".repeat(4);

type Json = Record<string, unknown>;

function audit(
  session: DecidedSession,
  argv: readonly string[],
  environment: Record<string, string> = {},
): CommandResult {
  const { data } = session;
  return runAudit(argv, {
    environment: { CLAUDE_PLUGIN_DATA: data, ...environment },
    configFolder: join(session.root, "config"),
  });
}

/** A session with an admitted spawn that ran and ended, and a refused one. */
async function recorded(environment: Record<string, string> = {}, id?: string): Promise<DecidedSession> {
  const session = id === undefined ? newSession() : new DecidedSession(id);
  Object.assign(session.environment, environment);
  await session.decide(session.event("SessionStart", { source: "startup" }));
  await session.running("c1", "a1");
  await session.decide(session.agentEvent("SubagentStop", "a1"));
  session.environment.CLAUDE_PLUGIN_OPTION_SUBAGENT_MAX_DEPTH = "0";
  await session.decide(session.agentCall("c2"));
  return session;
}

const segment = (session: DecidedSession) => join(chainFolder(session), "000001.jsonl");

describe("what audit is asked", () => {
  it.each<[string, string[], RegExp]>([
    ["nothing", [], /say what to do: verify, show, export/],
    ["something else", ["check"], /say what to do|unexpected text "check"\n/],
    ["an unknown option", ["verify", "--deep"], /unknown option '--deep'/],
    ["an option without its value", ["verify", "--session"], /argument missing/],
    [
      "another format",
      ["export", "--format", "csv"],
      /--format is for export, and jsonl is the one there is/,
    ],
    ["a format for verify", ["verify", "--format", "jsonl"], /--format is for export/],
    ["a session and all of them", ["verify", "--all", "--session", "s"], /use --session or --all, not both/],
  ])("is a wrong use: %s", async (_, argv, words) => {
    const result = audit(newSession(), argv);
    expect(result).toMatchObject({ exitCode: 2, stdout: "" });
    expect(result.stderr).toMatch(words);
  });

  it.each(["verify", "show", "export"])("is told where nothing was found: %s", (action) => {
    const session = newSession();
    expect(audit(session, [action])).toEqual({
      exitCode: 1,
      stdout: "",
      stderr: `spawn-guard audit: no session has left receipts in ${session.data} (CLAUDE_PLUGIN_DATA); name the plugin's data folder with --data\n`,
    });
    expect(audit(session, [action, "--all"]).exitCode).toBe(1);
  });

  it.each(["verify", "show", "export"])("is told of a session without receipts: %s", async (action) => {
    const session = await recorded();
    const result = audit(session, [action, "--session", "another"]);
    expect(result.exitCode).toBe(1);
    expect(result.stderr).toContain(join(session.data, "audit", "another"));
    expect(result.stderr).toContain("the session has no receipts");
  });

  it.each([
    ["../../etc", "%2e%2e%2f%2e%2e%2fetc"],
    ["/", "%2f"],
    ["a\u0000b", "a%00b"],
    ["..", "%2e%2e"],
    ["é", "%c3%a9"],
  ])("never leaves the data folder for the session %j", async (id, name) => {
    const session = await recorded();
    const result = audit(session, ["show", "--session", id]);
    expect(result.exitCode).toBe(1);
    expect(result.stderr).toMatch(/no receipts/);
    expect(result.stderr).toContain(`${join(session.data, "audit", name)} is not there`);
  });
});

describe("audit verify", () => {
  it("says what it has verified", async () => {
    const session = await recorded();
    const line = `ok  session ${session.sessionId}: 2 chains, 9 entries, 0 signed\n`;
    expect(audit(session, ["verify"])).toEqual({ exitCode: 0, stdout: line, stderr: "" });
    expect(audit(session, ["verify", "--session", session.sessionId]).stdout).toBe(line);
  });

  it("prints a report for each session as JSON", async () => {
    const session = await recorded();
    const result = audit(session, ["verify", "--json"]);
    const chain = { session: expect.any(String), signed: 0, broken: null, notices: [] };
    expect(JSON.parse(result.stdout)).toEqual([
      {
        session: session.sessionId,
        chains: [
          { ...chain, entries: 7 },
          { ...chain, entries: 2 },
        ],
        broken: [],
        notices: [],
      },
    ]);
  });

  it.each<[string, (session: DecidedSession) => void, RegExp]>([
    [
      "a changed byte",
      (at) => writeFileSync(segment(at), readFileSync(segment(at), "utf8").replace('"deny"', '"ally"')),
      /^broken: .*000001\.jsonl:5: line_hash does not fit/,
    ],
    ["a lost tail", (at) => truncateSync(segment(at), 30), /^broken: .*000001\.jsonl:1: the line has no end/],
    [
      "no segment",
      (at) => rmSync(segment(at)),
      /^broken: .*: the head counts 7 entries, the files hold 0: the tail is lost/,
    ],
    [
      "no head",
      (at) => rmSync(join(chainFolder(at), "head"), { recursive: true }),
      /^broken: [^:]*: the head is missing or damaged/,
    ],
    [
      "no chain",
      (at) => rmSync(chainFolder(at), { recursive: true }),
      /^broken: [^:]*: the session has no receipts/,
    ],
    [
      "no chain of a spawn that ended",
      (at) => rmSync(childFolder(at), { recursive: true }),
      /^broken: [^:]*: the chain is missing that .*000001\.jsonl:4 links to/,
    ],
    [
      "another chain, of no spawn",
      (at) =>
        mkdirSync(join(chainsFolder(at), "0c1fd7a2-6f0e-4f5e-9d3f-6a1f6b1f2a01", "head"), {
          recursive: true,
        }),
      /^notice: .*holds no receipt yet/,
    ],
    [
      "a link in place of a chain",
      (at) => {
        const child = childFolder(at);
        rmSync(child, { recursive: true });
        symlinkSync(chainFolder(at), child);
      },
      /^broken: [^:]*: .* is a link or no file of its own/,
    ],
    [
      "a link in place of a segment",
      (at) => {
        writeFileSync(join(at.root, "copy"), readFileSync(segment(at)));
        rmSync(segment(at));
        symlinkSync(join(at.root, "copy"), segment(at));
      },
      /^broken: [^:]*: .*000001\.jsonl is a link or no file of its own/,
    ],
  ])("names file and line: %s", async (_, spoil, words) => {
    const session = await recorded();
    spoil(session);
    const { exitCode, stdout, stderr } = audit(session, ["verify"]);
    expect(stderr).toMatch(words);
    expect(exitCode).toBe(stderr.startsWith("broken") ? 1 : 0);
    expect(stdout).toMatch(exitCode === 1 ? /^BROKEN {2}session/ : /^ok {2}session/);
  });

  it("takes the tail that a killed hook left to its head for what it is: all there", async () => {
    const session = await recorded();
    truncateSync(segment(session), readFileSync(segment(session)).length - 100);
    const { exitCode, stdout, stderr } = audit(session, ["verify"]);
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: expect.stringContaining("2 chains, 9 entries"),
    });
    expect(stderr).toMatch(
      /^notice: .*: the tail is not written yet \(3 entries, which the head holds\); the next receipt mends it \(a killed hook does this\)\n$/,
    );
  });

  it("goes over all sessions, whatever their ids", async () => {
    const odd = await recorded({}, "sessão/../: 1");
    try {
      expect(audit(odd, ["verify"])).toMatchObject({ exitCode: 0, stderr: "" });
      mkdirSync(join(odd.data, "sessions", "bare", "session"), { recursive: true });
      const { exitCode, stdout, stderr } = audit(odd, ["verify", "--all"]);
      expect(stdout).toContain("ok  session sessão/../: 1: 2 chains, 9 entries");
      expect(stdout).toContain("BROKEN  session bare: 0 chains");
      expect(stderr).toBe(`broken: ${join(odd.data, "audit", "bare")}: the session has no receipts\n`);
      expect(exitCode).toBe(1);
    } finally {
      odd.remove();
    }
  });
});

it("says that nobody can tell what is missing where the ledger is gone", async () => {
  const session = await recorded();
  rmSync(join(session.data, "sessions"), { recursive: true });
  const { exitCode, stderr } = audit(session, ["verify"]);
  expect({ exitCode, stderr }).toEqual({
    exitCode: 0,
    stderr: expect.stringMatching(
      /^notice: .* is not there: nobody can tell whether each spawn has its receipts\n$/,
    ),
  });
});

describe("audit verify with a key", () => {
  it("takes the one that the session was to sign with where none is named", async () => {
    const session = newSession();
    const file = join(session.root, "key");
    writeFileSync(file, KEY);
    session.environment.CLAUDE_PLUGIN_OPTION_AUDIT_KEY_FILE = file;
    session.environment.CLAUDE_CONFIG_DIR = join(session.root, "config");
    await session.decide(session.event("SessionStart", { source: "startup" }));
    expect(audit(session, ["verify"]).stdout).toMatch(/1 signed\n$/);
    writeFileSync(file, KEY.replaceAll("0", "1"));
    expect(audit(session, ["verify"]).exitCode).toBe(1);
    rmSync(file);
    expect(audit(session, ["verify"]).stdout).toMatch(/1 signed, signatures not checked \(no key\)\n$/);
  });

  it("holds every signature against it, and tells another's apart", async () => {
    const session = await recorded({ SPAWN_GUARD_AUDIT_KEY: KEY });
    expect(audit(session, ["verify"], { SPAWN_GUARD_AUDIT_KEY: KEY })).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining("9 signed"),
    });
    const wrong = audit(session, ["verify"], { SPAWN_GUARD_AUDIT_KEY: KEY.replaceAll("0", "1") });
    expect(wrong).toMatchObject({
      exitCode: 1,
      stderr: expect.stringContaining("not signed with a key that was given"),
    });
  });

  it.each<[string, Buffer, string | null]>([
    ["hex digits and a line end", Buffer.from(`${KEY}\n`), KEY],
    ["upper-case hex digits", Buffer.from(KEY.toUpperCase()), KEY],
    ["base64", Buffer.from(Buffer.from(KEY, "hex").toString("base64")), KEY],
    ["base64 of URLs", Buffer.from(Buffer.from(KEY, "hex").toString("base64url")), KEY],
    ["the bytes themselves", Buffer.from(KEY, "hex"), KEY],
    ["another key's bytes of which no one is text", Buffer.alloc(32, 0xfe), null],
  ])("reads a key file: %s", async (_, bytes, signs) => {
    const session = await recorded({ SPAWN_GUARD_AUDIT_KEY: KEY });
    const file = join(session.root, "key");
    writeFileSync(file, bytes);
    expect(audit(session, ["verify", "--key-file", file]).exitCode).toBe(signs === KEY ? 0 : 1);
  });

  it("tells two keys apart that are no text", async () => {
    const session = newSession();
    const file = join(session.root, "key");
    session.environment.CLAUDE_PLUGIN_OPTION_AUDIT_KEY_FILE = file;
    writeFileSync(file, Buffer.alloc(32, 0xfe));
    await session.decide(session.event("SessionStart", { source: "startup" }));
    expect(audit(session, ["verify", "--key-file", file]).exitCode).toBe(0);
    writeFileSync(file, Buffer.alloc(32, 0xff));
    expect(audit(session, ["verify", "--key-file", file]).exitCode).toBe(1);
  });

  it.each<[string, Buffer]>([
    ["31 letters", Buffer.from("k".repeat(31))],
    ["31 bytes that are no text", Buffer.alloc(31, 0xfe)],
    ["nothing", Buffer.alloc(0)],
  ])("refuses a key that is too short, and names its length: %s", async (_, bytes) => {
    const session = await recorded();
    const file = join(session.root, "key");
    writeFileSync(file, bytes);
    const { exitCode, stdout, stderr } = audit(session, ["verify", "--key-file", file]);
    expect({ exitCode, stdout }).toEqual({ exitCode: 1, stdout: "" });
    expect(stderr).toContain(
      `${file}: the audit key has ${bytes.length} bytes; at least ${MIN_KEY_BYTES} are needed`,
    );
  });

  it("says that a key file is none", async () => {
    const session = await recorded();
    const { exitCode, stderr } = audit(session, ["verify", "--key-file", join(session.root, "nowhere")]);
    expect({ exitCode, stderr }).toEqual({
      exitCode: 1,
      stderr: expect.stringContaining("nowhere is no file that can be read"),
    });
  });
});

describe("audit show", () => {
  it("gives a line a receipt, by time, with what it is about", async () => {
    const session = await recorded();
    const { exitCode, stdout } = audit(session, ["show"]);
    const lines = stdout.trimEnd().split("\n");
    expect(exitCode).toBe(0);
    expect(lines[0]).toMatch(/^time +agent +step +decision +about$/);
    expect(lines.slice(1)).toEqual(
      lines.slice(1).sort((a, b) => a.slice(0, 24).localeCompare(b.slice(0, 24))),
    );
    expect(
      lines
        .slice(1)
        .map((line) => line.split(/ {2,}/).slice(2, 4).join(" "))
        .sort(),
    ).toEqual([
      "sessionEnd allow",
      "sessionStart allow",
      "sessionStart allow",
      "subagentStart allow",
      "subagentStart deny",
      "subagentStop allow",
      "subagentStop allow",
      "toolCallRequest allow",
      "toolCallRequest deny",
    ]);
    expect(stdout).toContain("general-purpose inherit_full");
    expect(stdout).toContain("depth_exceeded");
  });

  it("prints the same as JSON", async () => {
    const session = await recorded();
    const rows: Json[] = JSON.parse(audit(session, ["show", "--json"]).stdout);
    expect(rows).toHaveLength(9);
    for (const row of rows) {
      expect(Object.keys(row)).toEqual(["at", "agent", "step", "decision", "about", "codes", "chain"]);
    }
  });

  it("shows what can be read of a damaged chain, on one line each", async () => {
    const session = await recorded();
    const text = readFileSync(segment(session), "utf8").replace('"general-purpose"', '"a\\nb\\u001b[2Jc"');
    writeFileSync(segment(session), `${text}half a li`);
    const { exitCode, stdout } = audit(session, ["show"]);
    expect(exitCode).toBe(0);
    expect(stdout.trimEnd().split("\n")).toHaveLength(10);
    expect(stdout).not.toContain("\u001b");
  });
});

it.each(["show", "export"])("audit %s says when the chain is not whole", async (action) => {
  const session = await recorded();
  expect(audit(session, [action]).stderr).toBe("");
  writeFileSync(segment(session), readFileSync(segment(session), "utf8").replace("c1", "c9"));
  const { exitCode, stdout, stderr } = audit(session, [action]);
  expect(exitCode).toBe(0);
  expect(stdout).not.toBe("");
  expect(stderr).toBe(`broken: session ${session.sessionId}; spawn-guard audit verify says where\n`);
});

describe("audit export", () => {
  it.each([[["export"]], [["export", "--format", "jsonl"]], [["export", "--json"]]])(
    "hands out every line as it stands: %j",
    async (argv) => {
      const session = await recorded();
      const { exitCode, stdout } = audit(session, argv);
      expect(exitCode).toBe(0);
      const lines = stdout.trimEnd().split("\n");
      expect(lines).toHaveLength(9);
      expect(lines.map((line) => JSON.parse(line))).toEqual(expect.arrayContaining(mainChain(session)));
      expect(stdout).toContain(readFileSync(segment(session), "utf8"));
    },
  );
});

function childFolder(session: DecidedSession): string {
  const child = readdirSync(chainsFolder(session)).find((name) => name !== session.sessionId);
  return join(chainsFolder(session), String(child));
}
