import {
  cpSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { attachedPayload, denial, HookSession, updatedInput } from "../../support/hook-session.ts";

let session: HookSession;
const folders: string[] = [];
afterEach(() => {
  session.remove();
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

const BY = { agent_id: "a1", agent_type: "general-purpose" };
const READ = { tool_name: "Read", tool_use_id: "r1", tool_input: { file_path: "x" } };

function everyFile(folder: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true }).map((entry) =>
    relative(folder, join(entry.parentPath, entry.name)),
  );
}

describe("a data folder that cannot be written", () => {
  it.each([
    ["is a file", (data: string) => writeFileSync(data, "")],
    [
      "has a file in place of its sessions",
      (data: string) => {
        mkdirSync(data);
        writeFileSync(join(data, "sessions"), "");
      },
    ],
    ["is a link to nowhere", (data: string) => symlinkSync("/nowhere/at/all", data)],
    ["is a link to itself", (data: string) => symlinkSync(data, data)],
  ])("refuses spawns, says why, and refuses nothing else: it %s", async (_, spoil) => {
    session = new HookSession();
    spoil(session.data);
    const spawn = await session.ask(session.agentCall("t1"));
    expect(spawn).toMatchObject({ exitCode: 0, stderr: "" });
    expect(denial(spawn)).toContain("could not judge this call, so it is refused (spawn_on_error");
    expect(spawn.json?.systemMessage).toMatch(
      /could not judge a PreToolUse event \(an error: .*(ENOTDIR|ENOENT|ELOOP|EEXIST)/,
    );

    const others = [
      session.event("PreToolUse", { ...READ, ...BY }),
      session.event("PreToolUse", READ),
      session.event("PreToolUse", { ...READ, tool_name: "Skill", tool_input: { skill: "develop" } }),
      session.event("PostToolUse", { ...READ, tool_name: "Agent", tool_response: { agentId: "a1" } }),
      session.event("PostToolBatch", { ...BY, tool_calls: [READ] }),
      session.event("SubagentStart", BY),
      session.event("SubagentStop", { ...BY, last_assistant_message: "done" }),
      session.event("SessionStart", { source: "startup" }),
      session.event("SessionEnd", {}),
    ];
    for (const event of others) {
      const result = await session.ask(event);
      expect(result, String(event.hook_event_name)).toMatchObject({ exitCode: 0, stderr: "" });
      expect(denial(result)).toBeNull();
      expect(Object.keys(result.json ?? {})).not.toContain("decision");
      expect(Object.keys(result.json ?? {})).not.toContain("continue");
    }
  });

  it("lets spawns through where spawn_on_error is allow, and refuses subagents' calls where tool_on_error is deny", async () => {
    session = new HookSession(undefined, { spawn_on_error: "allow", tool_on_error: "deny" });
    writeFileSync(session.data, "");
    const spawn = await session.ask(session.agentCall("t1"));
    expect(denial(spawn)).toBeNull();
    expect(spawn.json?.systemMessage).toContain("could not judge");
    expect(denial(await session.ask(session.event("PreToolUse", { ...READ, ...BY })))).toContain(
      "could not judge",
    );
    expect(denial(await session.ask(session.event("PreToolUse", READ)))).toBeNull();
  });
});

describe("what the hooks write", () => {
  it("is for its owner alone (case 72)", async () => {
    session = new HookSession();
    await session.ask(session.agentCall("t1"));
    await session.ask(session.launched("t1", "a1"));
    await session.ask(session.event("PreToolUse", { ...READ, ...BY }));
    const paths = [".", ...everyFile(session.data)].map((name) => join(session.data, name));
    expect(paths.length).toBeGreaterThan(8);
    for (const path of paths) {
      const stat = lstatSync(path);
      expect((stat.mode & 0o777).toString(8), path).toBe(stat.isDirectory() ? "700" : "600");
    }
  });

  it("stands in the data folder, and where that is in the user's own, never in the plugin's (case 51)", async () => {
    session = new HookSession();
    await session.ask(session.event("SessionStart", { source: "startup" }));
    await session.ask(session.agentCall("t1"));
    expect(readdirSync(session.root).sort()).toEqual(["config", "data"]);
    expect(everyFile(session.environment.CLAUDE_CONFIG_DIR ?? "")).toEqual([
      "spawn-guard",
      "spawn-guard/places",
      `spawn-guard/places/${session.sessionId}.json`,
    ]);
  });

  const ids = [
    "../../../evil",
    "..",
    ".",
    "/etc/evil",
    "a/b",
    "a\\..\\b",
    "a\u0000b",
    "%2e%2e%2f",
    "new\nline",
    "CON",
    "検査",
    "\ud83e",
    "s".repeat(200),
    "é".repeat(200),
    "s".repeat(10_000),
  ];
  it.each(ids.map((id) => [JSON.stringify(id).slice(0, 30), id]))(
    "stays there whatever an id is: %s (case 71)",
    async (_, id) => {
      session = new HookSession();
      const events = [
        { ...session.agentCall("t1"), session_id: id },
        session.agentCall(id),
        session.agentCall("t2", { agent_id: id }),
        session.launched("t1", id),
        session.event("SubagentStart", { agent_id: id }),
        session.event("PreToolUse", { ...READ, agent_id: id, tool_use_id: id }),
        session.event("SubagentStop", {
          agent_id: id,
          last_assistant_message: "",
          agent_transcript_path: id,
        }),
        session.event("PostToolBatch", { agent_id: "a1", tool_calls: [{ tool_use_id: id }] }),
      ];
      for (const event of events) {
        expect(await session.ask(event)).toMatchObject({ exitCode: 0, stderr: "" });
      }
      expect(readdirSync(session.root).filter((name) => name !== "data")).toEqual([]);
      expect(readdirSync(session.data).sort()).toEqual(["audit", "sessions"]);
      for (const name of everyFile(session.data)) expect(name).toMatch(/^[\w.%/-]+$/);
    },
  );

  it("changes nothing that stands where a planted link leads", async () => {
    session = new HookSession();
    const elsewhere = join(session.root, "elsewhere");
    mkdirSync(join(elsewhere, "session"), { recursive: true });
    writeFileSync(join(elsewhere, "keep.txt"), "mine");
    writeFileSync(join(elsewhere, "session", "keep.txt"), "mine");
    mkdirSync(join(session.data, "sessions"), { recursive: true });
    symlinkSync(elsewhere, join(session.data, "sessions", session.sessionId));
    expect(await session.ask(session.agentCall("t1"))).toMatchObject({ exitCode: 0, stderr: "" });
    expect(readFileSync(join(elsewhere, "keep.txt"), "utf8")).toBe("mine");
    expect(readFileSync(join(elsewhere, "session", "keep.txt"), "utf8")).toBe("mine");
  });
});

describe("a plugin installed under a path (case 48)", () => {
  it.each([
    "My Plugins/guard 1.0",
    'it\'s "here"',
    "a$HOME`x`$(x)",
    "プラグイン",
    "-e",
    "a&b;c|d*e?[f]",
    "back\\slash",
  ])("%j runs from there, its parts too", async (name) => {
    const base = mkdtempSync(join(tmpdir(), "spawn-guard-"));
    folders.push(base);
    const plugin = join(base, name, "plugin");
    cpSync("plugin", plugin, { recursive: true });
    session = new HookSession(undefined, {}, plugin);
    const spawn = await session.ask(session.agentCall("t1", {}, { subagent_type: "qa-engineer" }));
    expect(spawn).toMatchObject({ exitCode: 0, stderr: "" });
    expect(updatedInput(spawn)?.subagent_type).toBe("spawn-guard:qa-engineer");

    await session.ask(session.launched("t1", "a1"));
    const by = { agent_id: "a1", agent_type: "spawn-guard:qa-engineer" };
    expect(await session.ask(session.event("PreToolUse", { ...READ, ...by }))).toMatchObject({
      stdout: "",
      stderr: "",
    });
    const { trace_id } = attachedPayload(spawn);
    const prompt = `again\n<spawn_payload>\n${JSON.stringify(attachedPayload(spawn))}\n</spawn_payload>`;
    const used = await session.ask(session.agentCall("t2", {}, { prompt, subagent_type: "qa-engineer" }));
    expect(denial(used)).toContain(`"${trace_id}" has already been used`);
    const typed = {
      command_name: "spawn-guard:subagent-spawn",
      command_args: "--role qa-engineer --task 'test the form'",
    };
    const built = await session.ask(session.event("UserPromptExpansion", typed));
    expect(JSON.stringify(built.json)).toContain("spawn_payload");
  });
});
