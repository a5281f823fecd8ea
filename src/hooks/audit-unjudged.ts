import { DEFAULT_AGENT_TYPE } from "../guard/agent-type.ts";
import { reasons } from "../guard/reasons.ts";
import { isJson } from "../ledger/shape.ts";
import type { SpawnRecord } from "../ledger/spawn-record.ts";
import { gapNote, notRecorded } from "./audit-chain.ts";
import { auditCall, auditSpawn } from "./audit-decision.ts";
import { auditTransitions } from "./audit-transitions.ts";
import type { HookContext } from "./hook-context.ts";
import { type HookEvent, parseToolCall, type ToolCall } from "./hook-event.ts";

/**
 * Records a call that could not be judged and what policy made of it (DESIGN "Failure"). Gives back why that cannot
 * be done, which is then said to the person.
 */
export async function auditUnjudged(
  context: HookContext,
  event: HookEvent,
  decision: "allow" | "deny",
): Promise<string | null> {
  try {
    auditTransitions(context);
    const call = callIn(event);
    const caller = callerIn(event, context);
    const refused = reasons.notJudged();
    const { subagent_type: type } = call.input;
    if (call.tool === "Agent" || call.tool === "Task") {
      const agentType = typeof type === "string" ? type : DEFAULT_AGENT_TYPE;
      const spawn = { refused, agentType, derivation: "inherit_subset" as const, rules: null };
      await auditSpawn(context, call, caller, { ...spawn, isLetThrough: decision === "allow" });
    } else {
      await auditCall(context, call, caller, decision, refused);
    }
    return null;
  } catch (error) {
    const missed = notRecorded(context, error);
    context.notes.push(gapNote(missed));
    return missed.message;
  }
}

/** The call as far as it can be read. */
function callIn(event: HookEvent): ToolCall {
  const { tool_input: input } = event.raw;
  return parseToolCall({ ...event, raw: { ...event.raw, tool_input: isJson(input) ? input : {} } });
}

function callerIn({ agentId }: HookEvent, { ledger }: HookContext): SpawnRecord | null {
  if (agentId === null) return null;
  const trace = ledger.traceOfAgent(agentId);
  const caller = trace === null ? null : ledger.record(trace);
  if (caller === null) throw new Error("the ledger does not know the agent that made the call");
  return caller;
}
