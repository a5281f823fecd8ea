import { type LimitName, limitStates } from "../guard/budget.ts";
import { sessionIntent } from "../guard/intent.ts";
import { walkLineage } from "../guard/lineage.ts";
import type { AgentInput, Caller, GivenPayload } from "../guard/spawn-request.ts";
import { checksum } from "../ledger/checksum.ts";
import type { SpawnRecord } from "../ledger/spawn-record.ts";
import { formatProblems } from "../payload/format-problems.ts";
import { payloadSum } from "../payload/payload-sum.ts";
import { findBlock } from "../payload/prompt-block.ts";
import type { SpawnPayload } from "../payload/spawn-payload.ts";
import type { HookContext } from "./hook-context.ts";
import { BadInput, type ToolCall } from "./hook-event.ts";

/** The validator is loaded only for a prompt that has a block. */
export async function givenPayload({ prompt }: AgentInput, context: HookContext): Promise<GivenPayload> {
  const found = findBlock(prompt);
  if (found.kind === "none" || found.kind === "many") return found;
  if (found.kind === "broken") return { kind: "unusable", problem: found.problem };
  const { checkGivenPayload } = await import("../payload/given-payload.ts");
  const checked = checkGivenPayload(found.json, prompt, found);
  if (checked.ok) {
    const { payload } = checked;
    return isTyped(payload, context) ? { kind: "one", payload, typed: true } : { kind: "one", payload };
  }
  return { kind: "unusable", problem: formatProblems(checked.problems) };
}

/** Whether the person asked for this very payload with /subagent-spawn. */
function isTyped(payload: SpawnPayload, { ledger }: HookContext): boolean {
  const typed = ledger.session()?.typed.find(({ trace }) => trace === payload.trace_id);
  return typed !== undefined && typed.sum === payloadSum(payload);
}

export function mainCaller({ ledger, policy }: HookContext): Caller {
  return { kind: "main", intent: sessionIntent(ledger.session(), policy) };
}

export function callerOf(spawn: SpawnRecord, { ledger, policy, now }: HookContext): Caller {
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
    inheritedBans: spawn.inheritedBans,
    intent: spawn.intent,
    scope: spawn.scope,
    handsOn: spawn.handsOn,
    isProjectRole: spawn.isProjectRole,
    left: { inputTokens: left("input_tokens"), timeMs: left("time") },
  };
}

export function agentInput({ input }: ToolCall): AgentInput {
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
export function attemptKey(caller: Caller, input: AgentInput): string {
  const from = caller.kind === "main" ? "main" : caller.trace;
  const asked = `${input.subagent_type ?? ""}\n${input.prompt}`;
  return `${from}:${checksum(asked)}:${asked.length}`;
}
