import { reasons } from "../guard/reasons.ts";
import { noteLaunch } from "../ledger/launches.ts";
import type { Answer } from "./answer.ts";
import type { HookContext } from "./hook-context.ts";
import { type HookEvent, parseToolCall, type ToolCall } from "./hook-event.ts";
import { toolOnError } from "./on-error.ts";
import type { Hook } from "./run-hook.ts";
import { judgeSubagent, spawnOfEvent } from "./subagent.ts";

export const hook: Hook = {
  event: "PreToolUse",
  handle: judgeLauncher,
  onError: toolOnError,
};

/** Tools that start or resume agents without an Agent call. */
async function judgeLauncher(event: HookEvent, context: HookContext): Promise<Answer> {
  const call = parseToolCall(event);
  const spawn = spawnOfEvent(event, context);
  const refused = spawn === null ? null : judgeSubagent(spawn, context).refused;
  if (refused !== null) return { deny: refused.reason };
  const launch = { call: call.call, tool: call.tool, parent: spawn?.trace ?? null, id: null };
  switch (call.tool) {
    case "Workflow": {
      const { workflow_tool: mode } = context.policy;
      if (mode !== "allow") return { [mode]: reasons.workflow().reason };
      noteLaunch(context.ledger, launch);
      return {};
    }
    case "Skill":
      noteLaunch(context.ledger, launch);
      return builtBySkill(call, context);
    default:
      return {};
  }
}

/** The subagent-spawn skill called by a model: the payload is built here, and no argument meets a shell. */
async function builtBySkill({ input }: ToolCall, context: HookContext): Promise<Answer> {
  const { skill, args } = input;
  if (typeof skill !== "string" || !/^(spawn-guard:)?subagent-spawn$/.test(skill)) return {};
  const { skillAnswer } = await import("./skill-answer.ts");
  return { context: skillAnswer(typeof args === "string" ? args : "", false, context.projectFolder) };
}
