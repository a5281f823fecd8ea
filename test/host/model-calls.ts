import type { SpawnRecord } from "../../src/ledger/spawn-record.ts";
import { promptOf } from "../support/payload-prompt.ts";
import { agentCall, type GuardedRun } from "./guarded-run.ts";
import type { Ask, Reply, ToolCall } from "./harness/scripted-model.ts";

export const BACKGROUND = { run_in_background: true };

export function bash(command = "true"): ToolCall {
  return { name: "Bash", input: { command, description: "work" } };
}

/** The host lists these tools by name only until they are asked for. */
export const loadTools: ToolCall = {
  name: "ToolSearch",
  input: { query: "select:SendMessage,TaskStop,Workflow", max_results: 5 },
};

/** An Agent call whose prompt begins with `<name> go` and whose spawn is found by that name. */
export function named(
  name: string,
  type = "general-purpose",
  more: Record<string, unknown> = {},
): ToolCall & { id: string } {
  const call = agentCall(type, `${name} go`, { description: `the part of ${name}`, ...more });
  return { ...call, id: callId(name) };
}

export function callId(name: string): string {
  return `toolu_${name.replaceAll(/\W/g, "")}`;
}

/** The record of the spawn that the call of that name made. */
export function spawnOf(run: Pick<GuardedRun, "spawns">, name: string): SpawnRecord | undefined {
  return run.spawns.find(({ call }) => call === callId(name));
}

/** A prompt that begins with `<name> go` and holds a caller's payload; `members` are added to it. */
export function promptWithPayload(
  name: string,
  { budget = {}, ...members }: { budget?: Record<string, number>; [member: string]: unknown } = {},
): string {
  const payload = {
    trace_id: `wf-20261130-${name.toLowerCase().replaceAll(/\W/g, "")}-spawn-001`,
    subagent_role: "general-purpose",
    goal: `the part of ${name}`,
    constraints: [],
    allowed_tools: ["*"],
    ...members,
    budget: {
      max_input_tokens: 100_000,
      max_output_tokens: 500,
      max_tool_calls: 100,
      max_turns: 50,
      timeout_ms: 600_000,
      ...budget,
    },
  };
  return promptOf(payload, `${name} go`);
}

/** Replies of one that calls a tool in each of its turns. */
export function relentless(call: ToolCall = bash()): Reply[] {
  return Array.from({ length: 12 }, () => ({ calls: [call] }));
}

/** The agent that the call of that name launched, as the conversation says. */
export function agentOf(ask: Ask, name: string): string {
  for (const { content } of ask.body.messages) {
    if (typeof content === "string") continue;
    const result = content.find((block) => block.tool_use_id === callId(name));
    const found = result === undefined ? null : /agentId: (\w+)/.exec(JSON.stringify(result.content));
    if (found?.[1] !== undefined) return found[1];
  }
  throw new Error(`no agent of ${name} in the conversation`);
}
