import { bindCall } from "../ledger/binding.ts";
import { endSpawn } from "../ledger/ending.ts";
import { forgetLaunches, identifyLaunch } from "../ledger/launches.ts";
import { isJson, type Json } from "../ledger/shape.ts";
import type { Outcome } from "../ledger/spawn-record.ts";
import type { HookContext } from "./hook-context.ts";
import { parseToolCall } from "./hook-event.ts";
import { silentOnError } from "./on-error.ts";
import type { Hook } from "./run-hook.ts";

export const hook: Hook = {
  event: "PostToolUse",
  handle: (event, context) => {
    const { tool, call } = parseToolCall(event);
    const response = isJson(event.raw.tool_response) ? event.raw.tool_response : {};
    switch (tool) {
      case "Agent":
      case "Task":
        agentReturned(call, response, context);
        break;
      case "TaskStop":
        taskStopped(response, context);
        break;
      case "Workflow":
        if (typeof response.runId === "string") identifyLaunch(context.ledger, call, response.runId);
        break;
      case "Skill":
        skillReturned(call, response, context);
        break;
    }
    return {};
  },
  onError: silentOnError,
};

/** At launch for a background spawn, after the run for a foreground one. */
function agentReturned(call: string, response: Json, context: HookContext): void {
  const { ledger, policy, now } = context;
  const { agentId, agentType, status } = response;
  if (typeof agentId !== "string" || agentId === "") return;
  const agent = { agentId, agentType: typeof agentType === "string" ? agentType : null };
  const spawn = bindCall(ledger, call, agent, policy, now);
  if (spawn === null || status === "async_launched") return;
  const [outcome, detail] = returned(response);
  endSpawn(ledger, spawn.trace, outcome, detail, now);
}

/** The host says in words of its own that an agent ran into its maxTurns (fixture max-turns). */
function returned(response: Json): [Outcome, string | null] {
  const blocks = Array.isArray(response.content) ? response.content : [];
  const notes = blocks.map((block) => (isJson(block) && typeof block.text === "string" ? block.text : ""));
  const limit = notes
    .map((note) => /^NOTE: this agent stopped at its (\d+)-turn limit/.exec(note))
    .find(Boolean);
  return limit == null ? ["completed", null] : ["turn_limit", `the host's limit of ${limit[1]} turns`];
}

function taskStopped(response: Json, { ledger, now }: HookContext): void {
  const { task_id: agentId } = response;
  const trace = typeof agentId === "string" && agentId !== "" ? ledger.agent(agentId)?.trace : null;
  if (trace != null) endSpawn(ledger, trace, "stopped", "TaskStop", now);
}

function skillReturned(call: string, response: Json, { ledger, now }: HookContext): void {
  forgetLaunches(ledger, (launch) => launch.call === call);
  const { agentId } = response;
  const trace = typeof agentId === "string" && agentId !== "" ? ledger.agent(agentId)?.trace : null;
  if (trace != null) endSpawn(ledger, trace, "completed", "forked skill", now);
}
