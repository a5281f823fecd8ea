import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { installClaude } from "./harness/claude-program.ts";
import { type HookCall, teeHandler } from "./harness/recorded-plugin.ts";
import { recorderPlugin } from "./harness/recorder-plugin.ts";
import { type HookAnswers, type Run, type RunOptions, runClaude } from "./harness/run-claude.ts";
import { agentCall, runScenario } from "./harness/scenarios.ts";
import { script, type ToolCall } from "./harness/scripted-model.ts";
import { temporaryFolder } from "./harness/temporary-folder.ts";

beforeAll(installClaude);

const SETTINGS = ".claude/settings.json";
const foreground = { run_in_background: false };

function bash(command: string): ToolCall {
  return { name: "Bash", input: { command, description: "Runs a command" } };
}

const oneBash = script({ MAIN: [{ calls: [bash("echo 1")] }] });
const oneLeaf = script({
  MAIN: [{ calls: [agentCall("leaf", "LEAF", foreground)] }],
  LEAF: [{ text: "so far", calls: [bash("echo 1")] }, { calls: [bash("echo 2")] }],
});

async function recorded(options: Partial<RunOptions> & Pick<RunOptions, "model">): Promise<Run> {
  return await runClaude({ prompt: "MAIN go", pluginDirs: [recorderPlugin()], ...options });
}

function calls(run: Run, event: string, agentType?: string): HookCall[] {
  return run.hookCalls.filter((call) => call.event === event && call.input.agent_type === agentType);
}

function only(found: HookCall[]): HookCall {
  const [call] = found;
  if (call === undefined || found.length > 1) throw new Error(`${found.length} hook calls, not one`);
  return call;
}

function ended(call: HookCall): number {
  return call.t + call.ms;
}

/** What the host said to the model in one agent's requests, as JSON text. */
function told(run: Run, agent: "main" | "subagent"): string {
  const asks = run.asks.filter((ask) => (ask.agentId === null) === (agent === "main"));
  return JSON.stringify(asks.at(-1)?.body.messages);
}

describe("a project's env settings", () => {
  const env = {
    CLAUDE_PLUGIN_DATA: "/evil",
    CLAUDE_PLUGIN_ROOT: "/evil",
    CLAUDE_PROJECT_DIR: "/evil",
    CLAUDE_CONFIG_DIR: "/evil",
    CLAUDE_CODE_SESSION_ID: "/evil",
    HOME: "/evil",
    PATH: "/evil:/usr/bin:/bin",
    NODE_OPTIONS: "--require=/evil",
    CLAUDE_PLUGIN_OPTION_DEPTH: "/evil",
  };

  it.each([SETTINGS, ".claude/settings.local.json"])(
    "in %s cannot move a hook's folders, but can bend its Node",
    async (file) => {
      const run = await recorded({ model: oneBash, projectFiles: { [file]: JSON.stringify({ env }) } });
      const [call] = calls(run, "PreToolUse");
      const bent = Object.keys(env).filter((name) => call?.env[name]?.includes("/evil"));
      expect(bent).toEqual(["PATH", "NODE_OPTIONS", "CLAUDE_PLUGIN_OPTION_DEPTH"]);
      run.cleanup();
    },
  );

  it("that change during a session reach the hooks that follow", async () => {
    const change = `echo '{"env":{"CLAUDE_PLUGIN_OPTION_DEPTH":"9"}}' > ${SETTINGS}; sleep 3`;
    const run = await recorded({
      model: script({ MAIN: [{ calls: [bash(change)] }] }),
      projectFiles: { [SETTINGS]: "{}" },
    });
    expect(only(calls(run, "PreToolUse")).env.CLAUDE_PLUGIN_OPTION_DEPTH).toBeUndefined();
    expect(only(calls(run, "Stop")).env.CLAUDE_PLUGIN_OPTION_DEPTH).toBe("9");
    run.cleanup();
  });
});

describe("a plugin's user option", () => {
  const manifest = JSON.stringify({
    name: "probe",
    version: "0.0.1",
    description: "Has options",
    userConfig: {
      depth: { type: "number", title: "Depth", description: "A number", default: 3, min: 0 },
      mode: { type: "string", title: "Mode", description: "A choice", options: ["a", "b"], default: "a" },
      strict: { type: "boolean", title: "Strict", description: "A flag" },
    },
  });
  const projectEnv = { CLAUDE_PLUGIN_OPTION_DEPTH: "9", CLAUDE_PLUGIN_OPTION_MODE: "b" };

  async function options(given: Partial<RunOptions>): Promise<Record<string, string>> {
    const plugin = recorderPlugin({ files: { ".claude-plugin/plugin.json": manifest } });
    const run = await runClaude({ prompt: "hello", model: script({}), pluginDirs: [plugin], ...given });
    const { env } = only(calls(run, "UserPromptSubmit"));
    run.cleanup();
    return Object.fromEntries(
      Object.entries(env).filter(([name]) => name.startsWith("CLAUDE_PLUGIN_OPTION_")),
    );
  }

  it("comes from the person's settings, is absent when not set, and wins over any environment", async () => {
    const seen = await options({
      options: { depth: 5, strict: true },
      env: { CLAUDE_PLUGIN_OPTION_DEPTH: "7" },
      projectFiles: { [SETTINGS]: JSON.stringify({ env: { CLAUDE_PLUGIN_OPTION_DEPTH: "9" } }) },
    });
    expect(seen).toEqual({ CLAUDE_PLUGIN_OPTION_DEPTH: "5", CLAUDE_PLUGIN_OPTION_STRICT: "true" });
  });

  it("that the person has not set is the project's to give, before the program's environment", async () => {
    const seen = await options({
      env: { CLAUDE_PLUGIN_OPTION_DEPTH: "7" },
      projectFiles: { [SETTINGS]: JSON.stringify({ env: projectEnv }) },
    });
    expect(seen).toEqual(projectEnv);
  });

  it("is taken from --settings before the person's own, and never from a project's pluginConfigs", async () => {
    const configs = (depth: number) => ({
      pluginConfigs: { "probe@inline": { options: { depth, mode: "b" } } },
    });
    const seen = await options({ options: { depth: 5 }, settings: configs(6) });
    expect(seen).toEqual({ CLAUDE_PLUGIN_OPTION_DEPTH: "6", CLAUDE_PLUGIN_OPTION_MODE: "b" });
    expect(await options({ projectFiles: { [SETTINGS]: JSON.stringify(configs(8)) } })).toEqual({});
  });
});

describe("hook handlers", () => {
  it("in exec form run from a folder with spaces, quotes and dollars in its name", async () => {
    const odd = join(temporaryFolder("odd"), `a b'c"d $HOME \${X}`);
    cpSync(recorderPlugin(), odd, { recursive: true });
    const run = await recorded({ model: oneBash, pluginDirs: [odd] });
    expect(only(calls(run, "PreToolUse")).env.CLAUDE_PLUGIN_ROOT).toBe(odd);
    run.cleanup();
  });

  it("can exclude tools with a matcher", async () => {
    const handler = teeHandler("probe", "PreToolUse", ["ask"]);
    const group = { matcher: "^(?!(?:Agent|Task|Skill)$)", hooks: [handler] };
    const hooks = JSON.stringify({ hooks: { PreToolUse: [group] } });
    const plugin = recorderPlugin({ files: { "hooks/hooks.json": hooks } });
    const skill = { name: "Skill", input: { skill: "probe:hello" } };
    const run = await recorded({
      model: script({ MAIN: [{ calls: [agentCall("leaf", "LEAF", foreground), skill, bash("echo 1")] }] }),
      pluginDirs: [plugin],
    });
    expect(run.hookCalls.map((call) => call.input.tool_name)).toEqual(["Bash"]);
    run.cleanup();
  });
});

describe("the host waits", () => {
  it("for one kind of hook before the next comes", async () => {
    const slow = ["SubagentStart", "PostToolUse", "SubagentStop"];
    const run = await recorded({
      model: oneLeaf,
      hooks: async (input) => {
        if (slow.includes(input.hook_event_name)) await new Promise((resolve) => setTimeout(resolve, 500));
        return undefined;
      },
    });
    const leaf = "probe:leaf";
    const [firstTool, secondTool] = calls(run, "PostToolUse", leaf);
    const [firstBatch, secondBatch] = calls(run, "PostToolBatch", leaf);
    const ordered = [
      only(calls(run, "SubagentStart", leaf)),
      ...[firstTool, firstBatch, secondTool, secondBatch],
      only(calls(run, "SubagentStop", leaf)),
      only(calls(run, "PostToolUse")),
      only(calls(run, "PostToolBatch")),
    ].filter((call) => call !== undefined);
    expect(ordered).toHaveLength(8);
    for (const [index, call] of ordered.slice(1).entries()) {
      expect(call.t).toBeGreaterThanOrEqual(ended(ordered[index] ?? call));
    }
    run.cleanup();
  });
});

describe("PreToolUse of an Agent call", () => {
  it("rewrites the prompt and adds context without deciding anything", async () => {
    const run = await recorded({
      model: oneLeaf,
      hooks: ({ hook_event_name: hookEventName, tool_name: tool, tool_input: input }) => {
        if (hookEventName !== "PreToolUse" || tool !== "Agent") return undefined;
        const updatedInput = { ...input, prompt: "LEAF rewritten" };
        return { hookSpecificOutput: { hookEventName, updatedInput, additionalContext: "CONTEXT" } };
      },
    });
    expect(run.asks.find((ask) => ask.agentId !== null)?.firstPrompt).toBe("LEAF rewritten");
    expect(told(run, "main")).toContain("PreToolUse:Agent hook additional context: CONTEXT");
    expect(only(calls(run, "PostToolUse")).input.tool_input?.prompt).toBe("LEAF rewritten");
    expect(JSON.stringify(only(calls(run, "PostToolBatch")).input.tool_calls)).not.toContain("rewritten");
    run.cleanup();
  });
});

describe("additional context", () => {
  function context(text: string): HookAnswers {
    const events = ["UserPromptExpansion", "PreToolUse", "SubagentStart", "PostToolBatch"];
    return ({ hook_event_name: hookEventName }) =>
      events.includes(hookEventName)
        ? { hookSpecificOutput: { hookEventName, additionalContext: text } }
        : undefined;
  }

  it("of a typed skill and of a called one reaches the model as the host's words", async () => {
    const typed = await recorded({ prompt: "/hello a", model: script({}), hooks: context("CONTEXT") });
    expect(told(typed, "main")).toContain("UserPromptExpansion hook additional context: CONTEXT");
    const skill = { name: "Skill", input: { skill: "probe:hello" } };
    const called = await recorded({
      model: script({ MAIN: [{ calls: [skill] }] }),
      hooks: context("CONTEXT"),
    });
    expect(told(called, "main")).toContain("PreToolUse:Skill hook additional context: CONTEXT");
    for (const run of [typed, called]) run.cleanup();
  });

  it("reaches a subagent when it starts and after its tools", async () => {
    const run = await recorded({ model: oneLeaf, hooks: context("CONTEXT") });
    expect(told(run, "subagent")).toContain("SubagentStart hook additional context: CONTEXT");
    expect(told(run, "subagent")).toContain("PostToolBatch hook additional context: CONTEXT");
    run.cleanup();
  });

  it.each([
    [10_000, true],
    [10_001, false],
  ])("of %i characters arrives whole: %s", async (length, whole) => {
    const run = await recorded({ prompt: "/hello a", model: script({}), hooks: context("x".repeat(length)) });
    expect(told(run, "main").includes("x".repeat(length))).toBe(whole);
    expect(told(run, "main").includes("persisted-output")).toBe(!whole);
    run.cleanup();
  });
});

describe("PostToolBatch of a subagent", () => {
  it.each([
    { continue: false, stopReason: "enough" },
    { decision: "block", reason: "enough" },
  ])("ends it without a SubagentStop on %j", async (answer) => {
    const run = await recorded({
      model: oneLeaf,
      hooks: (input) =>
        input.hook_event_name === "PostToolBatch" && input.agent_id !== undefined ? answer : undefined,
    });
    expect(run.asks.filter((ask) => ask.agentId !== null)).toHaveLength(1);
    expect(calls(run, "SubagentStop", "probe:leaf")).toHaveLength(0);
    const response = only(calls(run, "PostToolUse")).input.tool_response;
    expect(response).toMatchObject({ status: "completed" });
    expect(JSON.stringify(response)).toContain("so far");
    run.cleanup();
  });
});

describe("the end of a background child", () => {
  it("comes to a subagent that still runs without any UserPromptSubmit", async () => {
    const run = await runScenario("background-child-of-a-running-subagent");
    expect(calls(run, "UserPromptSubmit")).toHaveLength(1);
    expect(calls(run, "SubagentStop", "probe:leaf")).toHaveLength(1);
    expect(JSON.stringify(run.asks.filter((ask) => ask.firstPrompt === "LEVEL1"))).toContain(
      "<task-notification>",
    );
    run.cleanup();
  });

  it("at its turn limit under a running subagent fires no event, but its sidecar says finished", async () => {
    const run = await runScenario("max-turns-under-a-running-subagent");
    expect(calls(run, "SubagentStop", "probe:short")).toHaveLength(0);
    expect(calls(run, "UserPromptSubmit")).toHaveLength(1);
    const child = only(calls(run, "SubagentStart", "probe:short")).input.agent_id;
    const sidecar = readFileSync(join(run.transcriptDir, `subagents/agent-${child}.meta.json`), "utf8");
    expect(JSON.parse(sidecar)).toMatchObject({ finished: true });
    run.cleanup();
  });
});

describe("a ConfigChange hook, when a command switches all hooks off", () => {
  const off = `mkdir -p .claude && echo '{"disableAllHooks": true}' > ${SETTINGS} && sleep 3`;

  it.each([
    [{ decision: "block", reason: "hooks stay on" }, "keeps them on"],
    [{ continue: false }, "does not keep them on"],
    [undefined, "does not keep them on"],
  ])("that answers %j %s", async (answer, outcome) => {
    const run = await recorded({
      model: script({ MAIN: [{ calls: [bash(off)] }] }),
      hooks: (input) => (input.hook_event_name === "ConfigChange" ? answer : undefined),
    });
    const { input } = calls(run, "ConfigChange")[0] ?? { input: {} };
    expect(input).toMatchObject({ source: "project_settings", file_path: join(run.projectDir, SETTINGS) });
    expect(calls(run, "Stop")).toHaveLength(outcome === "keeps them on" ? 1 : 0);
    run.cleanup();
  });
});

describe("a session", () => {
  it("ends with reason other and begins again with source resume under the same id", async () => {
    const run = await runScenario("session-resume");
    expect(calls(run, "SessionStart").map((call) => call.input.source)).toEqual(["startup", "resume"]);
    expect(calls(run, "SessionEnd").map((call) => call.input.reason)).toEqual(["other", "other"]);
    expect(new Set(run.hookCalls.map((call) => call.input.session_id)).size).toBe(1);
    run.cleanup();
  });
});

describe("TaskStop of a subagent", () => {
  it("takes its foreground child with it, without an event, and leaves its background child running", async () => {
    const foregroundChild = await runScenario("task-stop-of-a-parent-foreground-child");
    expect(calls(foregroundChild, "SubagentStop", "probe:leaf")).toHaveLength(0);
    expect(calls(foregroundChild, "PostToolUse", "probe:leaf")).toHaveLength(0);
    const backgroundChild = await runScenario("task-stop-of-a-parent-background-child");
    expect(calls(backgroundChild, "SubagentStop", "probe:leaf")).toHaveLength(1);
    for (const run of [foregroundChild, backgroundChild]) {
      expect(calls(run, "SubagentStop", "probe:worker")).toHaveLength(0);
      run.cleanup();
    }
  });
});
