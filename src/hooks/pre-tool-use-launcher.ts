import { limitStates, limitText } from "../guard/budget.ts";
import { reasons } from "../guard/reasons.ts";
import { reclaimSlots } from "../ledger/ending.ts";
import { noteLaunch } from "../ledger/launches.ts";
import type { Answer } from "./answer.ts";
import type { HookContext } from "./hook-context.ts";
import { type HookEvent, parseToolCall, type ToolCall } from "./hook-event.ts";
import { toolOnError } from "./on-error.ts";
import type { Hook } from "./run-hook.ts";
import { denied, judgeSubagent, spawnOfEvent } from "./subagent.ts";

export const hook: Hook = {
  event: "PreToolUse",
  handle: judgeLauncher,
  onError: toolOnError,
};

/** Tools that start or resume agents without an Agent call. */
async function judgeLauncher(event: HookEvent, context: HookContext): Promise<Answer> {
  const call = parseToolCall(event);
  const spawn = spawnOfEvent(event, context);
  const judged = spawn === null ? null : await judgeSubagent(spawn, call, event.cwd, context);
  if (judged?.refused != null) return denied(judged.refused, judged.halt);
  const launch = { call: call.call, tool: call.tool, parent: spawn?.trace ?? null, id: null };
  switch (call.tool) {
    case "Workflow": {
      const { workflow_tool: mode } = context.policy;
      if (mode === "deny") return { deny: reasons.workflow().reason };
      noteLaunch(context.ledger, launch);
      return mode === "ask" ? { ask: reasons.workflowAsk() } : {};
    }
    case "Skill":
      noteLaunch(context.ledger, launch);
      return builtBySkill(call, context);
    case "SendMessage":
      return messageTo(call, context);
    default:
      return {};
  }
}

/** A message resumes an agent that has ended: it needs budget left, and a free slot (DESIGN "Lineage" 5). */
function messageTo({ input }: ToolCall, { ledger, policy, now }: HookContext): Answer {
  const { to, recipient = to } = input;
  const trace = typeof recipient === "string" && recipient !== "" ? ledger.traceOfAgent(recipient) : null;
  const spawn = trace === null ? null : ledger.record(trace);
  if (spawn === null) return {};
  if (spawn.barred !== null) return { deny: reasons.unreachable(spawn.trace, spawn.barred).reason };
  const spent = limitStates(spawn, policy, now, null).find(({ used, bound }) => used >= bound);
  if (spent !== undefined) return { deny: reasons.unreachable(spawn.trace, limitText(spent)).reason };
  const running = () => Object.keys(ledger.session()?.running ?? {});
  const isFull = () => running().length >= policy.max_concurrent_spawns && !running().includes(spawn.trace);
  const state = ledger.session();
  if (!isFull() || (state !== null && reclaimSlots(ledger, state, now) && !isFull())) return {};
  return { deny: reasons.concurrency(running().length, policy.max_concurrent_spawns).reason };
}

/** The subagent-spawn skill called by a model: the payload is built here, and no argument meets a shell. */
async function builtBySkill({ input }: ToolCall, context: HookContext): Promise<Answer> {
  const { skill, args } = input;
  if (typeof skill !== "string" || !/^(spawn-guard:)?subagent-spawn$/.test(skill)) return {};
  const { skillAnswer } = await import("./skill-answer.ts");
  return { context: skillAnswer(typeof args === "string" ? args : "", false, context.projectFolder) };
}
