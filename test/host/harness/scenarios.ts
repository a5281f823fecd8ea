import { HOOK_EVENTS, recorderPlugin } from "./recorder-plugin.ts";
import { type HookAnswers, type Run, type RunOptions, runClaude } from "./run-claude.ts";
import { type Ask, type Reply, script, type ToolCall } from "./scripted-model.ts";

/** One kind of run; the recorder plugin is added to its options. */
type Kind = Partial<RunOptions> & Pick<RunOptions, "model">;

export function agentCall(type: string, prompt: string, more: Record<string, unknown> = {}): ToolCall {
  const input = { description: `${prompt} job`, prompt, subagent_type: `probe:${type}`, ...more };
  return { name: "Agent", input };
}

const FOREGROUND = { run_in_background: false };
const BACKGROUND = { run_in_background: true };

function agents(...calls: ToolCall[]): Reply {
  return { calls };
}

function bash(command: string): Reply {
  return { calls: [{ name: "Bash", input: { command, description: "Runs a command" } }] };
}

function skill(name: string): Reply {
  return { calls: [{ name: "Skill", input: { skill: `probe:${name}`, args: "--role x --task 'a b'" } }] };
}

const loadTools: Reply = {
  calls: [{ name: "ToolSearch", input: { query: "select:SendMessage,TaskStop,Workflow", max_results: 5 } }],
};

/** The agent id in the results that the conversation has seen so far. */
function seenAgent(ask: Ask): string {
  const found = /agentId: (\w+)/.exec(JSON.stringify(ask.body.messages));
  if (found?.[1] === undefined) throw new Error("no agent id in the conversation");
  return found[1];
}

const taskStop = (ask: Ask): Reply => ({ calls: [{ name: "TaskStop", input: { task_id: seenAgent(ask) } }] });

const sendMessage = (ask: Ask): Reply => {
  const input = { to: seenAgent(ask), summary: "again please", message: "AGAIN please" };
  return { calls: [{ name: "SendMessage", input }] };
};

/** Answers one event of subagents (or of one tool) and is silent otherwise. */
function answering(event: string, tool: string, output: Record<string, unknown>): HookAnswers {
  return (input) =>
    input.hook_event_name === event && input.tool_name === tool && input.agent_id !== undefined
      ? output
      : undefined;
}

const refusal = {
  hookSpecificOutput: {
    hookEventName: "PreToolUse",
    permissionDecision: "deny",
    permissionDecisionReason: "refused by the recording",
  },
};

const nested = {
  MAIN: [agents(agentCall("worker", "LEVEL1"))],
  LEVEL1: [agents(agentCall("leaf", "LEVEL2"))],
  LEVEL2: [bash("echo hi")],
};

function four(more: Record<string, unknown>): Reply {
  return agents(...[1, 2, 3, 4].map((index) => agentCall("leaf", `LEAF${index}`, more)));
}

const leaf = { LEAF: [bash("echo leaf")] };

function spawn(type: string, more: Record<string, unknown>, leafReplies: Reply[]): Kind {
  return { model: script({ MAIN: [agents(agentCall(type, "LEAF", more))], LEAF: leafReplies }) };
}

const apiError: Reply = {
  error: { status: 400, type: "invalid_request_error", message: "the recording's error" },
};

const WORKFLOW = `export const meta = { name: 'x', description: 'd', phases: [{ title: 'p' }] }
return await parallel([() => agent('LEAF one'), () => agent('LEAF two')]);`;

export const scenarios = {
  nested: { model: script(nested) },
  "nested-foreground": {
    model: script({ ...nested, MAIN: [agents(agentCall("worker", "LEVEL1", FOREGROUND))] }),
  },
  "nested-denied": { model: script(nested), hooks: answering("PreToolUse", "Agent", refusal) },
  "nested-halted": {
    model: script({ ...nested, MAIN: [agents(agentCall("worker", "LEVEL1", FOREGROUND))] }),
    hooks: answering("PreToolUse", "Bash", { ...refusal, continue: false, stopReason: "halted" }),
  },
  "nested-updated-input": {
    model: script(nested),
    hooks: (input) => {
      if (input.tool_name !== "Agent" || input.hook_event_name !== "PreToolUse") return undefined;
      const { tool_input: call } = input;
      const updatedInput = { ...call, prompt: `${String(call?.prompt)} and more` };
      return { hookSpecificOutput: { hookEventName: "PreToolUse", updatedInput } };
    },
  },
  "parallel-same-type-foreground": { model: script({ MAIN: [four(FOREGROUND)], ...leaf }) },
  "parallel-same-type-background": { model: script({ MAIN: [four(BACKGROUND)], ...leaf }) },
  "chain-of-four": {
    model: script({
      MAIN: [agents(agentCall("worker", "LEVEL1", FOREGROUND))],
      LEVEL1: [agents(agentCall("worker", "LEVEL2", FOREGROUND))],
      LEVEL2: [agents(agentCall("worker", "LEVEL3", FOREGROUND))],
      LEVEL3: [agents(agentCall("leaf", "LEVEL4", FOREGROUND))],
      LEVEL4: [bash("echo four")],
    }),
    env: { CLAUDE_CODE_MAX_SUBAGENT_SPAWN_DEPTH: "5" },
  },
  "background-child-of-subagent": {
    model: script({
      MAIN: [agents(agentCall("worker", "LEVEL1", FOREGROUND))],
      LEVEL1: [agents(agentCall("leaf", "LEVEL2", BACKGROUND)), bash("echo parent goes on")],
      LEVEL2: [bash("sleep 1")],
    }),
  },
  "background-child-of-a-running-subagent": {
    model: script({
      MAIN: [agents(agentCall("worker", "LEVEL1", FOREGROUND))],
      LEVEL1: [agents(agentCall("leaf", "LEVEL2", BACKGROUND)), bash("sleep 1.5")],
      LEVEL2: [bash("echo leaf")],
    }),
  },
  "max-turns-under-a-running-subagent": {
    model: script({
      MAIN: [agents(agentCall("worker", "LEVEL1", FOREGROUND))],
      LEVEL1: [agents(agentCall("short", "LEVEL2", BACKGROUND)), bash("sleep 1.5")],
      LEVEL2: [1, 2, 3].map((turn) => bash(`echo ${turn}`)),
    }),
  },
  "halted-at-post-tool-batch": {
    ...spawn("leaf", FOREGROUND, [{ text: "so far", ...bash("echo 1") }, bash("echo 2")]),
    hooks: (input) =>
      input.hook_event_name === "PostToolBatch" && input.agent_id !== undefined
        ? { continue: false }
        : undefined,
  },
  "unknown-agent-type": { model: script({ MAIN: [agents(agentCall("nobody", "LEAF"))] }) },
  "refused-by-permission-rule": {
    ...spawn("leaf", FOREGROUND, [bash("echo leaf")]),
    settings: { permissions: { deny: ["Agent(probe:leaf)"] } },
  },
  "refused-by-nobody-there": {
    ...spawn("leaf", FOREGROUND, [bash("echo leaf")]),
    permissionMode: "default",
    settings: { permissions: { ask: ["Agent"] } },
  },
  "refused-by-another-hook": {
    ...spawn("leaf", FOREGROUND, [bash("echo leaf")]),
    pluginDirs: [recorderPlugin({ name: "other", events: ["PreToolUse"] })],
    hooks: (input, plugin) => (plugin === "other" && input.tool_name === "Agent" ? refusal : undefined),
  },
  "max-turns-foreground": spawn(
    "short",
    FOREGROUND,
    [1, 2, 3].map((turn) => bash(`echo ${turn}`)),
  ),
  "max-turns-background": spawn(
    "short",
    BACKGROUND,
    [1, 2, 3].map((turn) => bash(`echo ${turn}`)),
  ),
  "api-error-foreground": spawn("leaf", FOREGROUND, [bash("echo leaf"), apiError]),
  "api-error-background": spawn("leaf", BACKGROUND, [bash("echo leaf"), apiError]),
  "task-stop": {
    model: script({
      MAIN: [agents(agentCall("leaf", "LEAF", BACKGROUND)), loadTools, taskStop],
      LEAF: [bash("sleep 20")],
    }),
  },
  "task-stop-of-a-parent-foreground-child": {
    model: script({
      MAIN: [agents(agentCall("worker", "LEVEL1", BACKGROUND)), bash("sleep 1"), loadTools, taskStop],
      LEVEL1: [agents(agentCall("leaf", "LEVEL2", FOREGROUND))],
      LEVEL2: [bash("sleep 3"), bash("echo still here")],
    }),
  },
  "task-stop-of-a-parent-background-child": {
    model: script({
      MAIN: [agents(agentCall("worker", "LEVEL1", BACKGROUND)), bash("sleep 1"), loadTools, taskStop],
      LEVEL1: [agents(agentCall("leaf", "LEVEL2", BACKGROUND)), bash("sleep 10")],
      LEVEL2: [bash("sleep 3"), bash("echo still here")],
    }),
  },
  "resume-by-sendmessage": {
    model: script({
      MAIN: [agents(agentCall("leaf", "LEAF", FOREGROUND)), loadTools, sendMessage],
      LEAF: [bash("echo leaf"), { text: "LEAF done" }, bash("echo again"), { text: "LEAF again done" }],
    }),
  },
  "subagent-stop-blocked": {
    model: script({
      MAIN: [agents(agentCall("leaf", "LEAF", FOREGROUND))],
      LEAF: [{ text: "the full report" }, { text: "only the contract" }],
    }),
    hooks: (input) =>
      input.hook_event_name === "SubagentStop" && input.stop_hook_active === false
        ? { decision: "block", reason: "say the contract" }
        : undefined,
  },
  workflow: {
    model: script({
      MAIN: [loadTools, { calls: [{ name: "Workflow", input: { script: WORKFLOW } }] }],
      LEAF: [bash("echo workflow leaf")],
    }),
  },
  "forked-skill": { model: script({ MAIN: [skill("forked")], "FORKED-SKILL": [bash("echo forked")] }) },
  "forked-skill-at-depth-three": {
    model: script({
      MAIN: [agents(agentCall("worker", "LEVEL1", FOREGROUND))],
      LEVEL1: [agents(agentCall("worker", "LEVEL2", FOREGROUND))],
      LEVEL2: [agents(agentCall("worker", "LEVEL3", FOREGROUND))],
      LEVEL3: [skill("forked")],
      "FORKED-SKILL": [bash("echo depth four")],
    }),
  },
  "skill-tool": { model: script({ MAIN: [skill("hello")] }) },
  "slash-command": { prompt: "/hello --role x --task 'a $(echo b)'", model: script({}) },
  "session-resume": spawn("leaf", FOREGROUND, [bash("echo leaf")]),
} satisfies Record<string, Kind>;

export type ScenarioName = keyof typeof scenarios;

/** Runs one scenario with the recorder plugin; "session-resume" is two runs of one session. */
export async function runScenario(name: ScenarioName): Promise<Run> {
  const kind: Kind = scenarios[name];
  const probe = recorderPlugin({ events: HOOK_EVENTS });
  const options = { prompt: "MAIN go", ...kind, pluginDirs: [probe, ...(kind.pluginDirs ?? [])] };
  const first = await runClaude(options);
  if (name !== "session-resume") return first;
  const model = script({ MAIN: [{}, {}, agents(agentCall("leaf", "LEAF", FOREGROUND))], ...leaf });
  const second = await runClaude({ ...options, model, home: first.home, resume: first.sessionId });
  return {
    ...second,
    hookCalls: [...first.hookCalls, ...second.hookCalls],
    asks: [...first.asks, ...second.asks],
  };
}
