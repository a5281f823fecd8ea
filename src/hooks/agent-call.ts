import { dirname, join } from "node:path";
import { DEFAULT_AGENT_TYPE } from "../guard/agent-type.ts";
import { deriveIntent } from "../guard/intent.ts";
import { asRepeated, type Refused, reasons } from "../guard/reasons.ts";
import type { AgentInput, Caller, SpawnRequest } from "../guard/spawn-request.ts";
import { admitSpawn, recordRefusal } from "../ledger/admission.ts";
import { endSpawn } from "../ledger/ending.ts";
import { agentPlaces } from "../roles/agent-places.ts";
import { handedTools } from "../roles/handed-tools.ts";
import { OwnAgents } from "../roles/own-agents.ts";
import { resolveTarget } from "../roles/resolve-target.ts";
import { agentInput, attemptKey, callerOf, givenPayload, mainCaller } from "./agent-request.ts";
import type { Answer } from "./answer.ts";
import { gapNote, type NotRecorded, notRecorded } from "./audit-chain.ts";
import { auditSpawn, type RefusedSpawn } from "./audit-decision.ts";
import { auditTransitions } from "./audit-transitions.ts";
import type { HookContext } from "./hook-context.ts";
import { type HookEvent, parseToolCall } from "./hook-event.ts";
import { denied, judgeSubagent, spawnOfEvent } from "./subagent.ts";

/**
 * Decides about an Agent (or Task) call, and records the decision before it is answered: silence but for the prompt it
 * goes out with, or a refusal.
 */
export async function judgeAgentCall(event: HookEvent, context: HookContext): Promise<Answer> {
  const { ledger, policy, now } = context;
  const call = parseToolCall(event);
  const input = agentInput(call);
  const parent = spawnOfEvent(event, context);
  const judged = parent === null ? null : judgeSubagent(parent, call, event.cwd, context);
  const by = judged?.spawn ?? null;
  const caller: Caller = by === null ? mainCaller(context) : callerOf(by, context);
  const attempt = { call: call.call, key: attemptKey(caller, input) };
  const refuse = async (spawn: RefusedSpawn, times: number, halt: boolean): Promise<Answer> => {
    await write(context, () => auditSpawn(context, call, by, spawn));
    return denied(asRepeated(spawn.refused, times), halt);
  };
  if (judged?.refused != null) {
    const times = recordRefusal(ledger, attempt, judged.refused);
    return refuse(notLookedAt(input, judged.refused), times, judged.halt);
  }
  const { HOME, USERPROFILE } = context.environment;
  const folders = {
    plugin: join(dirname(process.argv[1] ?? ""), "..", "agents"),
    own: new OwnAgents(agentPlaces(context.projectFolder, context.configFolder, HOME || USERPROFILE)),
  };
  const target = await resolveTarget(input.subagent_type, folders);
  if ("broken" in target) {
    const refused = reasons.roleBroken(input.subagent_type ?? "", target.broken);
    return refuse(notLookedAt(input, refused), recordRefusal(ledger, attempt, refused), false);
  }
  const request: SpawnRequest = {
    ...attempt,
    caller,
    input,
    payload: await givenPayload(input, context),
    target: { ...target, handedTools: await handedTools(target.role, folders) },
    policy,
    now,
    traceUsed: (trace) => ledger.hasRecord(trace),
  };
  const admission = admitSpawn(ledger, request);
  if (admission.kind === "refused") {
    return refuse(refusedSpawn(request, admission.refused), admission.times, false);
  }
  const { record } = admission;
  const missed = await write(context, () => auditSpawn(context, call, by, record));
  if (missed === null || policy.audit === "warn") return { updatedInput: admission.input };
  endSpawn(ledger, record.trace, "cancelled", "its decision could not be recorded", now);
  return denied(reasons.notRecorded(missed.message), false);
}

/** Writes receipts, those of what this event has changed about others first; what fails is said to the person. */
async function write(context: HookContext, receipts: () => Promise<void>): Promise<NotRecorded | null> {
  try {
    auditTransitions(context);
    await receipts();
    return null;
  } catch (error) {
    // A decision that has been made never turns on what its receipt fails of.
    const missed = notRecorded(context, error);
    context.notes.push(gapNote(missed));
    return missed;
  }
}

/** A spawn that was refused before its role and payload were looked at. */
function notLookedAt(input: AgentInput, refused: Refused): RefusedSpawn {
  const agentType = input.subagent_type ?? DEFAULT_AGENT_TYPE;
  return { refused, agentType, derivation: "inherit_subset", rules: null };
}

/** What a refused spawn asked for: its payload's tools, else its role's. */
function refusedSpawn(request: SpawnRequest, refused: Refused): RefusedSpawn {
  const { payload, target } = request;
  const { agentType, role } = target;
  if (payload.kind === "one") {
    const isPersons =
      payload.typed === true && request.caller.kind === "main" && refused.code !== "trace_reused";
    const derivation = isPersons ? "fresh" : "derived_from_parent";
    return { refused, agentType, derivation, rules: payload.payload.allowed_tools };
  }
  if (payload.kind !== "none") return { refused, agentType, derivation: "derived_from_parent", rules: null };
  const rules = role.tools ?? ["*"];
  const parent = { rules: request.caller.intent, banned: [] };
  const derivation = deriveIntent("guard", parent, { rules, banned: role.disallowedTools });
  return { refused, agentType, derivation, rules };
}
