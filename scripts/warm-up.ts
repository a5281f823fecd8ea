import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";

type Json = Record<string, unknown>;

const SESSION = "00000000-0000-4000-8000-000000000000";
const agent = { agent_id: "a1", agent_type: "general-purpose" };
const input = { description: "an example", prompt: "look at one part", subagent_type: "general-purpose" };
const read = { tool_name: "Read", tool_use_id: "r1", tool_input: { file_path: "x" } };
const call = { tool_name: "Agent", tool_use_id: "t1", tool_input: input };
/** A payload that a caller gives, to an agent that has a list of tools. */
const PAYLOAD = {
  trace_id: "wf-20260101-warmup-spawn-001",
  subagent_role: "qa-engineer",
  goal: "test the login form",
  constraints: [],
  allowed_tools: ["Read", "Bash(git log:*)"],
  budget: {
    max_input_tokens: 1000,
    max_output_tokens: 100,
    max_tool_calls: 9,
    max_turns: 9,
    timeout_ms: 60_000,
  },
};
const given = {
  tool_name: "Agent",
  tool_use_id: "t2",
  tool_input: {
    ...input,
    prompt: `test it\n<spawn_payload>\n${JSON.stringify(PAYLOAD)}\n</spawn_payload>`,
    subagent_type: "spawn-guard:qa-engineer",
  },
};
const qa = { agent_id: "a2", agent_type: "spawn-guard:qa-engineer" };
const helper = { ...call, tool_use_id: "t3", tool_input: { ...input, subagent_type: "helper" } };
const AGENT_FILE = "---\nname: helper\ndescription: helps\ntools: Read, Bash(git log:*)\n---\nHelp.\n";

/** One short session, in the order of its events: what each hook script usually does. */
const EVENTS: readonly (readonly [script: string, event: string, members: Json])[] = [
  ["session-start", "SessionStart", { source: "startup" }],
  [
    "user-prompt-expansion",
    "UserPromptExpansion",
    { command_name: "subagent-spawn", command_args: "--role qa-engineer --task 'test the login form'" },
  ],
  ["config-change", "ConfigChange", { file_path: "none", source: "project_settings" }],
  ["pre-tool-use-agent", "PreToolUse", call],
  ["pre-tool-use-agent", "PreToolUse", given],
  ["pre-tool-use-agent", "PreToolUse", helper],
  ["subagent-start", "SubagentStart", agent],
  ["post-tool-use", "PostToolUse", { ...call, tool_response: { status: "async_launched", agentId: "a1" } }],
  ["post-tool-use", "PostToolUse", { ...given, tool_response: { status: "async_launched", agentId: "a2" } }],
  ["pre-tool-use", "PreToolUse", { ...read, ...agent }],
  ["pre-tool-use", "PreToolUse", { ...read, ...qa, tool_use_id: "r2" }],
  ["pre-tool-use-agent", "PreToolUse", { ...call, ...agent, tool_use_id: "t4" }],
  ["pre-tool-use-launcher", "PreToolUse", { ...read, ...agent, tool_name: "Skill", tool_use_id: "s1" }],
  ["post-tool-batch", "PostToolBatch", { tool_calls: [read], ...agent }],
  ["stop-failure", "StopFailure", { ...agent, last_assistant_message: "API Error" }],
  ["post-tool-use-failure", "PostToolUseFailure", { ...call, error: "Agent terminated early" }],
  ["subagent-stop", "SubagentStop", { ...agent, last_assistant_message: "done", background_tasks: [] }],
  ["user-prompt-submit", "UserPromptSubmit", { prompt: "<task-notification>\n</task-notification>" }],
  ["session-end", "SessionEnd", { reason: "other" }],
];

const BUILD = ["build", "--role", "qa-engineer", "--task", "test the login form"];

/** Makes the compiled code of every built script, by running each once on an example (src/start.ts). */
export function warmUp(codeCache: string): void {
  const folder = mkdtempSync(join(tmpdir(), "spawn-guard-build-"));
  const env = {
    PATH: process.env.PATH ?? "",
    HOME: folder,
    CLAUDE_CONFIG_DIR: join(folder, "config"),
    CLAUDE_PROJECT_DIR: folder,
    CLAUDE_PLUGIN_DATA: join(folder, "data"),
  };
  const run = (file: string, args: readonly string[], stdin: string) =>
    execFileSync(process.execPath, [resolve(codeCache), resolve(file), ...args], {
      env,
      input: stdin,
      cwd: folder,
    });
  try {
    mkdirSync(join(folder, ".claude/agents"), { recursive: true });
    writeFileSync(join(folder, ".claude/agents/helper.md"), AGENT_FILE);
    const place = { session_id: SESSION, transcript_path: join(folder, `${SESSION}.jsonl`), cwd: folder };
    for (const [script, event, members] of EVENTS) {
      run(`plugin/hooks/${script}.cjs`, [], JSON.stringify({ ...place, hook_event_name: event, ...members }));
    }
    run("plugin/cli/main.cjs", BUILD, "");
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
