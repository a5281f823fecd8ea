import { limitStates, limitText } from "../guard/budget.ts";
import { type Refused, reasons } from "../guard/reasons.ts";
import { reclaimSlots } from "../ledger/ending.ts";
import { noteLaunch } from "../ledger/launches.ts";
import type { Answer } from "./answer.ts";
import type { HookContext } from "./hook-context.ts";
import { type HookEvent, parseToolCall, type ToolCall } from "./hook-event.ts";
import { toolOnError } from "./on-error.ts";
import type { Hook } from "./run-hook.ts";
import { denied, judgeSubagent, recordRefused, spawnOfEvent } from "./subagent.ts";

export const hook: Hook = {
  event: "PreToolUse",
  handle: judgeLauncher,
  onError: toolOnError,
};

/** Tools that start or resume agents without an Agent call. */
async function judgeLauncher(event: HookEvent, context: HookContext): Promise<Answer> {
  const call = parseToolCall(event);
  const spawn = spawnOfEvent(event, context);
  const judged = spawn === null ? null : judgeSubagent(spawn, call, event.cwd, context);
  if (judged?.refused != null) {
    await recordRefused(context, call, judged.spawn, judged.refused);
    return denied(judged.refused, judged.halt);
  }
  const refuse = async (refused: Refused): Promise<Answer> => {
    await recordRefused(context, call, spawn, refused);
    return { deny: refused.reason };
  };
  const launch = { call: call.call, tool: call.tool, parent: spawn?.trace ?? null, id: null };
  switch (call.tool) {
    case "Workflow": {
      const { workflow_tool: mode } = context.policy;
      if (mode === "deny") return refuse(reasons.workflow());
      noteLaunch(context.ledger, launch);
      return mode === "ask" ? { ask: reasons.workflowAsk() } : {};
    }
    case "Skill":
      noteLaunch(context.ledger, launch);
      return builtBySkill(call, context);
    case "SendMessage": {
      const refused = messageRefusal(call, context);
      return refused === null ? {} : refuse(refused);
    }
    default:
      return {};
  }
}

/** A message resumes an agent that has ended: it needs budget left, and a free slot (DESIGN "Lineage" 5). */
function messageRefusal({ input }: ToolCall, { ledger, policy, now }: HookContext): Refused | null {
  const { to, recipient = to } = input;
  const trace = typeof recipient === "string" && recipient !== "" ? ledger.traceOfAgent(recipient) : null;
  const spawn = trace === null ? null : ledger.record(trace);
  if (spawn === null) return null;
  if (spawn.barred !== null) return reasons.unreachable(spawn.trace, spawn.barred);
  const spent = limitStates(spawn, policy, now, null).find(({ used, bound }) => used >= bound);
  if (spent !== undefined) return reasons.unreachable(spawn.trace, limitText(spent));
  const running = () => Object.keys(ledger.session()?.running ?? {});
  const isFull = () => running().length >= policy.max_concurrent_spawns && !running().includes(spawn.trace);
  const state = ledger.session();
  if (!isFull() || (state !== null && reclaimSlots(ledger, state, now) && !isFull())) return null;
  return reasons.concurrency(running().length, policy.max_concurrent_spawns);
}

/** The subagent-spawn skill called by a model: the payload is built here, and no argument meets a shell. */
async function builtBySkill({ input }: ToolCall, context: HookContext): Promise<Answer> {
  const { skill, args } = input;
  if (typeof skill !== "string" || !/^(spawn-guard:)?subagent-spawn$/.test(skill)) return {};
  const { skillAnswer } = await import("./skill-answer.ts");
  return { context: skillAnswer(typeof args === "string" ? args : "", false, context.projectFolder).context };
}
