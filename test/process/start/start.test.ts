import { spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, truncateSync, writeFileSync } from "node:fs";
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
