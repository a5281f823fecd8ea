import { dirname, join } from "node:path";
import { type LimitName, limitStates } from "../guard/budget.ts";
import { walkLineage } from "../guard/lineage.ts";
import { asRepeated, reasons } from "../guard/reasons.ts";
import type { AgentInput, Caller, GivenPayload } from "../guard/spawn-request.ts";
import { admitSpawn, recordRefusal } from "../ledger/admission.ts";
import { checksum } from "../ledger/checksum.ts";
import type { SpawnRecord } from "../ledger/spawn-record.ts";
import { formatProblems } from "../payload/format-problems.ts";
import { findBlock } from "../payload/prompt-block.ts";
import { agentPlaces } from "../roles/agent-places.ts";
import { resolveTarget } from "../roles/resolve-target.ts";
import type { Answer } from "./answer.ts";
import type { HookContext } from "./hook-context.ts";
import { BadInput, type HookEvent, parseToolCall, type ToolCall } from "./hook-event.ts";
import { denied, judgeSubagent, spawnOfEvent } from "./subagent.ts";

/** Decides about an Agent (or Task) call: silence but for the prompt it goes out with, or a refusal. */
export async function judgeAgentCall(event: HookEvent, context: HookContext): Promise<Answer> {
  const call = parseToolCall(event);
  const input = agentInput(call);
  const parent = spawnOfEvent(event, context);
  const judged = parent === null ? null : await judgeSubagent(parent, call, event.cwd, context);
  const caller: Caller = judged === null ? { kind: "main" } : callerOf(judged.spawn, context);
  const attempt = { call: call.call, key: attemptKey(caller, input) };
  if (judged?.refused != null) {
    const { refused, halt } = judged;
    return denied(asRepeated(refused, recordRefusal(context.ledger, attempt, refused)), halt);
  }
  const { HOME, USERPROFILE } = context.environment;
  const target = await resolveTarget(input.subagent_type, {
    plugin: join(dirname(process.argv[1] ?? ""), "..", "agents"),
    own: agentPlaces(context.projectFolder, context.configFolder, HOME || USERPROFILE),
  });
  if ("broken" in target) {
    const refused = reasons.roleBroken(input.subagent_type ?? "", target.broken);
    return denied(asRepeated(refused, recordRefusal(context.ledger, attempt, refused)), false);
  }
  const admission = admitSpawn(context.ledger, {
    ...attempt,
    caller,
    input,
    payload: await givenPayload(input),
    target,
    policy: context.policy,
    now: context.now,
    traceUsed: (trace) => context.ledger.hasRecord(trace),
  });
  if (admission.kind === "admitted") return { updatedInput: admission.input };
  return denied(asRepeated(admission.refused, admission.times), false);
}

/** The validator is loaded only for a prompt that has a block. */
async function givenPayload({ prompt }: AgentInput): Promise<GivenPayload> {
  const found = findBlock(prompt);
  if (found.kind === "none" || found.kind === "many") return found;
  if (found.kind === "broken") return { kind: "unusable", problem: found.problem };
  const { checkGivenPayload } = await import("../payload/given-payload.ts");
  const checked = checkGivenPayload(found.json, prompt, found);
  if (checked.ok) return { kind: "one", payload: checked.payload };
  return { kind: "unusable", problem: formatProblems(checked.problems) };
}

function callerOf(spawn: SpawnRecord, { ledger, policy, now }: HookContext): Caller {
  const baseDepth = ledger.session()?.baseDepth ?? 0;
  const limits = limitStates(spawn, policy, now, null);
  const left = (name: LimitName) => {
    const state = limits.find(({ limit }) => limit === name);
    return state === undefined ? 0 : state.bound - state.used;
  };
  return {
    kind: "spawn",
    trace: spawn.trace,
    depth: spawn.depth,
    lineage: walkLineage(spawn, (trace) => ledger.record(trace), baseDepth),
    tools: spawn.payload.allowed_tools,
    disallowed: spawn.disallowed,
    intent: spawn.intent,
    scope: spawn.scope,
    handsOn: spawn.handsOn,
    isProjectRole: spawn.isProjectRole,
    left: { inputTokens: left("input_tokens"), timeMs: left("time") },
  };
}

function agentInput({ input }: ToolCall): AgentInput {
  const { description = "", prompt, subagent_type: type } = input;
  if (typeof prompt !== "string") throw new BadInput("tool_input.prompt is missing or no text");
  if (typeof description !== "string") throw new BadInput("tool_input.description is no text");
  if (type !== undefined && type !== null && typeof type !== "string") {
    throw new BadInput("tool_input.subagent_type is no text");
  }
  const { subagent_type: _, ...others } = input;
  return { ...others, description, prompt, ...(typeof type === "string" ? { subagent_type: type } : {}) };
}

/** Two attempts are the same when one caller asks for the same type with the same prompt (case 65). */
function attemptKey(caller: Caller, input: AgentInput): string {
  const from = caller.kind === "main" ? "main" : caller.trace;
  const asked = `${input.subagent_type ?? ""}\n${input.prompt}`;
  return `${from}:${checksum(asked)}:${asked.length}`;
}
