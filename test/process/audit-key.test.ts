import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { Signer } from "../../src/acs/signer.ts";
import { denial, HookSession, updatedInput } from "../support/hook-session.ts";
import { mainChain, verified } from "../support/receipts.ts";

let session: HookSession;
afterEach(() => session.remove());

/** A key as text, and as the bytes that its text stands for. */
const TEXT = "9f8e7d6c5b4a39281706f5e4d3c2b1a0".repeat(2);
const BYTES = Buffer.from(TEXT, "hex");
const FORMS = [TEXT, TEXT.toUpperCase(), BYTES.toString("latin1"), BYTES.toString("base64").slice(0, 40)];

function withKey(by: string): void {
  session = new HookSession();
  if (by === "the environment") session.environment.SPAWN_GUARD_AUDIT_KEY = TEXT;
  else {
    const file = join(session.root, "key");
    writeFileSync(file, by === "a file of text" ? `${TEXT}\n` : BYTES);
    session.environment.CLAUDE_PLUGIN_OPTION_AUDIT_KEY_FILE = file;
  }
}

/** What any hook and command says in a session, errors included. */
async function everythingSaid(): Promise<string> {
  const by = { agent_id: "a1", agent_type: "general-purpose" };
  const events = [
    session.event("SessionStart", { source: "startup" }),
    session.agentCall("c1"),
    session.launched("c1", "a1"),
    session.event("SubagentStart", by),
    session.event("PreToolUse", { ...by, tool_name: "Read", tool_use_id: "r1", tool_input: "no object" }),
    session.agentCall("c2", {}, { prompt: 1 }),
    session.agentCall("c3", { tool_use_id: 1 }),
    session.event("SubagentStop", { ...by, last_assistant_message: "done" }),
    session.event("SessionEnd", { reason: "other" }),
  ];
  const said: string[] = [];
  for (const event of events)
    for (const { stdout, stderr } of await session.send(event)) said.push(stdout, stderr);
  for (const argv of [["verify"], ["verify", "--json"], ["show"], ["export"], ["verify", "--help"]]) {
    const { status, stdout, stderr } = spawnSync(
      process.execPath,
      [resolve("plugin/cli/spawn-guard.cjs"), "audit", ...argv],
      {
        env: session.environment,
        encoding: "utf8",
      },
    );
    expect({ argv, status }).toEqual({ argv, status: 0 });
    said.push(stdout, stderr);
  }
  return said.join("\n");
}

function everythingWritten(): string {
  return [session.data, join(session.root, "config")]
    .flatMap((folder) => readdirSync(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), "latin1"))
    .join("\n");
}

describe("the key that signs receipts", () => {
  it.each(["the environment", "a file of text", "a file of bytes"])(
    "signs all of them, and is said and written nowhere: %s",
    async (by) => {
      withKey(by);
      const said = await everythingSaid();
      const written = everythingWritten();
      for (const form of FORMS) {
        expect(said).not.toContain(form);
        expect(written).not.toContain(form);
      }
      const { chains, broken } = verified(session, new Signer(BYTES));
      expect(broken).toEqual([]);
      for (const { entries, signed } of chains) expect(signed).toBe(entries);
    },
  );

  it.each([
    ["the environment", "k".repeat(31)],
    ["a file", "k".repeat(31)],
    ["a file", Buffer.alloc(31, 0xfe)],
  ])("is refused when it is too short, without a word of it: %s", async (by, key) => {
    for (const audit of ["warn", "require"]) {
      session?.remove();
      session = new HookSession(undefined, { audit });
      if (by === "a file") {
        writeFileSync(join(session.root, "key"), key);
        session.environment.CLAUDE_PLUGIN_OPTION_AUDIT_KEY_FILE = join(session.root, "key");
      } else session.environment.SPAWN_GUARD_AUDIT_KEY = String(key);
      const result = await session.ask(session.agentCall("c1"));
      expect(result.stdout).toContain("the audit key has 31 bytes; at least 32 are needed");
      expect(result.stdout).not.toContain("kkkk");
      expect(denial(result) === null).toBe(audit === "warn");
      if (audit === "warn") expect(mainChain(session)).toHaveLength(3);
    }
  });

  it("that is missing under its name is said", async () => {
    session = new HookSession(undefined, { audit_key_file: "/nowhere/key" });
    const result = await session.ask(session.agentCall("c1"));
    expect(updatedInput(result)).not.toBeNull();
    expect(result.json?.systemMessage).toContain("audit_key_file /nowhere/key is no file that can be read");
  });

  it.each(["SPAWN_GUARD_AUDIT_KEY", "CLAUDE_PLUGIN_OPTION_AUDIT_KEY_FILE"])(
    "does not count where a project's settings name it: %s",
    async (name) => {
      session = new HookSession();
      const file = join(session.root, "key");
      writeFileSync(file, TEXT);
      const value = name === "SPAWN_GUARD_AUDIT_KEY" ? TEXT : file;
      session.environment[name] = value;
      mkdirSync(join(session.project, ".claude"), { recursive: true });
      writeFileSync(
        join(session.project, ".claude/settings.json"),
        JSON.stringify({ env: { [name]: value } }),
      );
      await session.ask(session.event("SessionStart", { source: "startup" }));
      // The environment outlives the file.
      writeFileSync(join(session.project, ".claude/settings.json"), "{}");
      await session.ask(session.agentCall("c1"));
      expect(mainChain(session)).toHaveLength(3);
      expect(verified(session).chains.map(({ signed }) => signed)).toEqual([0]);
    },
  );
});
