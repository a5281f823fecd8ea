/**
 * Which script handles which of the host's events. hooks.json is generated from this table; a test holds the
 * two together.
 */
type Row = {
  event: string;
  /** of tool events: which tools; see host facts for the host's two readings of a matcher */
  matcher?: string;
  script: string;
  /** the script is started only when the input holds one of these; none means always */
  words?: readonly string[];
  /** seconds */
  timeout: number;
  /** what the host does when the hook cannot run at all */
  onFailure?: "block";
};

/** Tools that start, resume or stop agents, or lead to one: they are looked at on the main thread too. */
const LAUNCHERS = "Workflow|Skill|SendMessage|TaskStop";
const SPAWNERS = "Agent|Task";
const IN_SUBAGENT = '"agent_id"';

export const EVENT_TABLE: readonly Row[] = [
  { event: "SessionStart", script: "session-start", timeout: 20 },
  { event: "UserPromptSubmit", script: "user-prompt-submit", words: ["<task-notification>"], timeout: 20 },
  { event: "UserPromptExpansion", script: "user-prompt-expansion", words: ["subagent-spawn"], timeout: 20 },
  { event: "PreToolUse", matcher: SPAWNERS, script: "pre-tool-use-agent", timeout: 20, onFailure: "block" },
  { event: "PreToolUse", matcher: LAUNCHERS, script: "pre-tool-use-launcher", timeout: 20 },
  {
    event: "PreToolUse",
    matcher: `^(?!(?:${SPAWNERS}|${LAUNCHERS})$)`,
    script: "pre-tool-use",
    words: [IN_SUBAGENT],
    timeout: 20,
  },
  { event: "PostToolUse", matcher: `${SPAWNERS}|${LAUNCHERS}`, script: "post-tool-use", timeout: 20 },
  {
    event: "PostToolUseFailure",
    matcher: `${SPAWNERS}|${LAUNCHERS}`,
    script: "post-tool-use-failure",
    timeout: 20,
  },
  {
    event: "PostToolBatch",
    script: "post-tool-batch",
    words: [IN_SUBAGENT, '"Agent"', '"Task"', '"Skill"', '"Workflow"'],
    timeout: 20,
  },
  { event: "SubagentStart", script: "subagent-start", timeout: 20 },
  { event: "SubagentStop", script: "subagent-stop", timeout: 20 },
  { event: "StopFailure", script: "stop-failure", words: [IN_SUBAGENT], timeout: 20 },
  { event: "ConfigChange", script: "config-change", timeout: 20 },
  { event: "SessionEnd", script: "session-end", timeout: 5 },
];

/** The scripts to build, each once. */
export const SCRIPTS: readonly string[] = [...new Set(EVENT_TABLE.map((row) => row.script))];

/**
 * How a hook's command starts its script: `sh`, which starts no Node for what is none of ours, or where there is no
 * POSIX shell (Windows) `node`, which looks at the input itself.
 */
export type Starter = "sh" | "node";

const STARTER_SCRIPT: Record<Starter, string> = { sh: "run.sh", node: "start.cjs" };

/** plugin/hooks/hooks.json: exec form throughout, so no path or option ever meets a shell. */
export function hooksJson(starter: Starter): { hooks: Record<string, unknown[]> } {
  const hooks: Record<string, unknown[]> = {};
  for (const { event, matcher, script, words = [], timeout, onFailure } of EVENT_TABLE) {
    const handler = {
      type: "command",
      command: starter,
      args: [`\${CLAUDE_PLUGIN_ROOT}/hooks/${STARTER_SCRIPT[starter]}`, `${script}.cjs`, ...words],
      timeout,
      ...(onFailure === undefined ? {} : { onFailure }),
    };
    hooks[event] = [
      ...(hooks[event] ?? []),
      { ...(matcher === undefined ? {} : { matcher }), hooks: [handler] },
    ];
  }
  return { hooks };
}
