import { spawnSync } from "node:child_process";
import {
  chmodSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, expect, it } from "vitest";

const folders: string[] = [];
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true });
});

/** A copy of the built plugin, spoilt by `spoil`, and what one of its hooks answers to an Agent call. */
function answered(script: string, spoil: (hooks: string) => void) {
  const root = mkdtempSync(join(tmpdir(), "start-"));
  folders.push(root);
  cpSync("plugin", join(root, "plugin"), { recursive: true });
  const hooks = join(root, "plugin/hooks");
  spoil(hooks);
  const event = {
    session_id: "s1",
    transcript_path: join(root, "s1.jsonl"),
    cwd: root,
    hook_event_name: "PreToolUse",
    tool_name: "Agent",
    tool_use_id: "t1",
    tool_input: { description: "a part of it", prompt: "look at one part", subagent_type: "general-purpose" },
  };
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: root,
    CLAUDE_PLUGIN_DATA: join(root, "data"),
    CLAUDE_PROJECT_DIR: root,
  };
  const { status, stdout, stderr } = spawnSync("sh", [join(hooks, "run.sh"), script], {
    input: JSON.stringify(event),
    env,
  });
  return { status, stdout: stdout.toString(), stderr: stderr.toString() };
}

const AGENT = "pre-tool-use-agent.cjs";
const cache = (hooks: string) => join(hooks, `${AGENT}.cache`);

it.each<[string, (hooks: string) => void]>([
  ["as built", () => {}],
  ["without its compiled code", (hooks) => rmSync(cache(hooks))],
  ["with its compiled code cut short", (hooks) => truncateSync(cache(hooks), 5000)],
  ["with compiled code that is none", (hooks) => writeFileSync(cache(hooks), "no code")],
])("a hook %s answers the same", (_, spoil) => {
  const { status, stdout, stderr } = answered(AGENT, spoil);
  expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
  expect(stdout).toContain("<spawn_payload>");
});

it("a spawn is refused when its script is gone, and nothing else is", () => {
  const gone = (hooks: string) => {
    for (const name of [AGENT, "pre-tool-use.cjs"]) rmSync(join(hooks, name));
  };
  expect(answered(AGENT, gone)).toMatchObject({
    status: 2,
    stdout: "",
    stderr: expect.stringContaining("spawn-guard cannot run"),
  });
  expect(answered("pre-tool-use.cjs", gone)).toMatchObject({ status: 0, stdout: "" });
});

/** The programs that a hook starts in turn, when it can find no others. */
function started(script: string, words: readonly string[], event: object) {
  const root = mkdtempSync(join(tmpdir(), "start-"));
  folders.push(root);
  const bin = join(root, "bin");
  const log = join(root, "log");
  mkdirSync(bin);
  writeFileSync(log, "");
  for (const [name, real] of Object.entries({ cat: "/bin/cat", node: process.execPath })) {
    writeFileSync(join(bin, name), `#!/bin/sh\necho ${name} >>'${log}'\nexec '${real}' "$@"\n`);
    chmodSync(join(bin, name), 0o755);
  }
  const { status, stderr } = spawnSync("/bin/sh", ["plugin/hooks/run.sh", script, ...words], {
    input: JSON.stringify({
      session_id: "s1",
      transcript_path: join(root, "s1.jsonl"),
      cwd: root,
      hook_event_name: "PreToolUse",
      tool_use_id: "t1",
      ...event,
    }),
    env: { PATH: bin, HOME: root, CLAUDE_PLUGIN_DATA: join(root, "data"), CLAUDE_PROJECT_DIR: root },
  });
  const programs = readFileSync(log, "utf8").split("\n").slice(0, -1);
  return { status, stderr: stderr.toString(), programs };
}

const READ = { tool_name: "Read", tool_input: { file_path: "x" } };
const SPAWN = {
  tool_name: "Agent",
  tool_input: { description: "a part of it", prompt: "look at one part", subagent_type: "general-purpose" },
};

it.each<[string, string, string[], object, string[]]>([
  ["a call of the main thread", "pre-tool-use.cjs", ['"agent_id"'], READ, ["cat"]],
  ["a subagent's call", "pre-tool-use.cjs", ['"agent_id"'], { ...READ, agent_id: "a1" }, ["cat", "node"]],
  ["a spawn", AGENT, [], SPAWN, ["node"]],
])("%s starts no program but what it needs, and no shell (case 46)", (_, script, words, event, programs) => {
  expect(started(script, words, event)).toEqual({ status: 0, stderr: "", programs });
});
