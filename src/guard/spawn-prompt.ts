import type { SpawnRecord } from "../ledger/spawn-record.ts";
import { grantsSpawn } from "../payload/allowed-tools.ts";
import { findBlock, renderBlock, replaceBlock } from "../payload/prompt-block.ts";
import type { AgentInput } from "./spawn-request.ts";

const GOAL_MIN = 10;
const GOAL_MAX = 1000;

/**
 * The goal of a payload that the guard attaches: the call's description if it is long enough, else the
 * beginning of the prompt (DESIGN "Payload"). 10 to 1000 code points, whatever comes in.
 */
export function goalOf(input: AgentInput): string {
  const candidates = [input.description, input.prompt, `${input.description}: ${input.prompt}`];
  const goal = candidates.map((text) => text.trim()).find((text) => [...text].length >= GOAL_MIN);
  return [...(goal ?? `Task as given: ${input.prompt.trim()}`)].slice(0, GOAL_MAX).join("");
}

/**
 * The input that the subagent is started with: the caller's, with the payload in its prompt (in place of the
 * caller's own block where there is one) and a line that says where this spawn stands. SubagentStart cannot say
 * it, since it does not know which spawn it is.
 */
export function spawnInput(input: AgentInput, spawn: SpawnRecord, maxDepth: number): AgentInput {
  const { agentType, payload } = spawn;
  const found = findBlock(input.prompt);
  const prompt =
    found.kind === "one"
      ? replaceBlock(input.prompt, found, payload)
      : `${input.prompt}\n\n${renderBlock(payload)}`;
  return {
    ...input,
    prompt: `${prompt}\n${standing(spawn, maxDepth)}`,
    ...(input.subagent_type === undefined ? {} : { subagent_type: agentType }),
  };
}

function standing({ trace, depth, payload, disallowed }: SpawnRecord, maxDepth: number): string {
  const left = grantsSpawn(payload.allowed_tools, disallowed) ? maxDepth - depth : 0;
  const may =
    left > 0
      ? `You may spawn subagents, ${left} more ${left === 1 ? "level" : "levels"} deep.`
      : "You may not spawn subagents: do all of the work yourself.";
  return `[spawn-guard] You are spawn ${trace} at depth ${depth} of at most ${maxDepth}. ${may}`;
}
