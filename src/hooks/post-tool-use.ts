import { bindCall } from "../ledger/binding.ts";
import { forgetLaunches, identifyLaunch } from "../ledger/launches.ts";
import { isJson, type Json } from "../ledger/shape.ts";
import type { Outcome, SpawnRecord } from "../ledger/spawn-record.ts";
import type { Answer } from "./answer.ts";
import type { HookContext } from "./hook-context.ts";
import { parseToolCall } from "./hook-event.ts";
import { silentOnError } from "./on-error.ts";
import { settle, stopTree, turnLimit } from "./outcome.ts";
import type { Hook } from "./run-hook.ts";

export const hook: Hook = {
  event: "PostToolUse",
  handle: (event, context) => {
    const { tool, call } = parseToolCall(event);
    const response = isJson(event.raw.tool_response) ? event.raw.tool_response : {};
    switch (tool) {
      case "Agent":
      case "Task":
        return agentReturned(call, response, context);
      case "TaskStop":
        return taskStopped(response, context);
      case "Workflow":
        if (typeof response.runId === "string") identifyLaunch(context.ledger, call, response.runId);
        return {};
      case "Skill":
        return skillReturned(call, response, context);
      default:
        return {};
    }
  },
  onError: silentOnError,
};

/** At launch for a background spawn, after the run for a foreground one. */
function agentReturned(call: string, response: Json, context: HookContext): Answer {
  const { ledger, policy, now } = context;
  const { agentId, agentType, status } = response;
  if (typeof agentId !== "string" || agentId === "") return {};
  const agent = { agentId, agentType: typeof agentType === "string" ? agentType : null };
  const spawn = bindCall(ledger, call, agent, policy, now);
  if (spawn === null || status === "async_launched") return {};
  return settle(spawn.trace, ...returned(response, spawn), context);
}

/** One that was denied calls for its budget ran out of it, whatever it said in the end. */
function returned(response: Json, { meter }: SpawnRecord): [Outcome, string | null] {
  const blocks = Array.isArray(response.content) ? response.content : [];
  const notes = blocks.map((block) => (isJson(block) && typeof block.text === "string" ? block.text : ""));
  if (meter.exhausted !== null) return ["budget_exhausted", meter.exhausted];
  return notes.map(turnLimit).find((limit) => limit !== null) ?? ["completed", null];
}

function taskStopped(response: Json, context: HookContext): Answer {
  const { task_id: agentId } = response;
  const trace = typeof agentId === "string" && agentId !== "" ? context.ledger.traceOfAgent(agentId) : null;
  if (trace !== null) stopTree(trace, "TaskStop", context);
  return {};
}

function skillReturned(call: string, response: Json, context: HookContext): Answer {
  forgetLaunches(context.ledger, (launch) => launch.call === call);
  const { agentId } = response;
  const trace = typeof agentId === "string" && agentId !== "" ? context.ledger.agent(agentId)?.trace : null;
  return trace == null ? {} : settle(trace, "completed", "forked skill", context);
}
