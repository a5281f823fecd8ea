import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { addTee, type HooksFile, teeHandler } from "./recorded-plugin.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/**
 * Every hook event that Claude Code 2.1.332 knows, but for MessageDisplay and FileChanged (noise) and the
 * Worktree events (a handler there takes over making the worktree).
 */
export const HOOK_EVENTS = [
  "SessionStart",
  "SessionEnd",
  "Setup",
  "UserPromptSubmit",
  "UserPromptExpansion",
  "PreToolUse",
  "PostToolUse",
  "PostToolUseFailure",
  "PostToolBatch",
  "PermissionRequest",
  "PermissionDenied",
  "Notification",
  "SubagentStart",
  "SubagentStop",
  "Stop",
  "StopFailure",
  "PreCompact",
  "PostCompact",
  "PreModelSwitch",
  "PostModelSwitch",
  "TaskCreated",
  "TaskCompleted",
  "TeammateIdle",
  "Elicitation",
  "ElicitationResult",
  "ConfigChange",
  "CwdChanged",
  "DirectoryAdded",
  "InstructionsLoaded",
  "PreSkillShellCommand",
] as const;

export type HookEvent = (typeof HOOK_EVENTS)[number];

export interface RecorderOptions {
  /** The plugin's name, and so the prefix of its agents and skills; "probe" by default. */
  name?: string;
  /** The events it listens to; all by default. */
  events?: readonly HookEvent[];
  /** Files to add or to put in place of its own, by path inside the plugin. */
  files?: Record<string, string>;
}

/**
 * Makes a small plugin that records every hook event and answers them as the `hooks` option of `runClaude`
 * says. Its agents: worker (may spawn), leaf (may not), short (two turns). Its skills: hello, forked (runs
 * as a subagent).
 */
export function recorderPlugin({
  name = "probe",
  events = HOOK_EVENTS,
  files,
}: RecorderOptions = {}): string {
  const folder = join(temporaryFolder("recorder"), name);
  const hooks: HooksFile["hooks"] = {};
  for (const event of events) hooks[event] = [{ hooks: [teeHandler(name, event, ["ask"])] }];
  const all: Record<string, string> = {
    ".claude-plugin/plugin.json": JSON.stringify({ name, version: "0.0.1", description: "Records hooks" }),
    "hooks/hooks.json": JSON.stringify({ hooks }, null, 2),
    "agents/worker.md": agent("worker", "tools: Agent, Bash, Read, Skill, SendMessage, TaskStop"),
    "agents/leaf.md": agent("leaf", "tools: Bash, Read"),
    "agents/short.md": agent("short", "tools: Bash, Read\nmaxTurns: 2"),
    "skills/hello/SKILL.md": skill("hello", "", "HELLO-SKILL with $ARGUMENTS"),
    "skills/forked/SKILL.md": skill("forked", "context: fork\n", "FORKED-SKILL with $ARGUMENTS"),
    ...files,
  };
  for (const [path, content] of Object.entries(all)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
  addTee(folder);
  return folder;
}

function agent(name: string, lines: string): string {
  return `---\nname: ${name}\ndescription: The ${name} of the recordings\n${lines}\n---\nAGENT-${name.toUpperCase()}\n`;
}

function skill(name: string, lines: string, body: string): string {
  return `---\nname: ${name}\ndescription: The ${name} skill of the recordings\n${lines}---\n${body}\n`;
}
