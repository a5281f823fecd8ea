import { ranMs, tokensUsed } from "../ledger/meter.ts";
import { hasFailed, type Outcome, type SpawnRecord } from "../ledger/spawn-record.ts";

/** What an outcome means to the caller: out of budget is not broken, and refused is neither. */
const MEANING: Record<Outcome, string> = {
  completed: "completed",
  failed: "failed",
  stopped: "stopped before it was done",
  turn_limit: "stopped at the host's turn limit, its report is partial",
  budget_exhausted: "ran out of its budget, its report is partial",
  never_started: "never started",
  cancelled: "was cancelled before it started",
  timed_out: "showed no sign of life for its timeout",
  session_ended: "ended with the session",
};

/**
 * One line for the caller when a spawn has ended: outcome, contract, what was measured and what was left of its
 * budget. `failures` counts the failed spawns of this role and goal by this caller, this one included.
 */
export function outcomeLine(spawn: SpawnRecord, failures: number, now: number): string {
  const { meter, payload, outcome, contract } = spawn;
  const { budget } = payload;
  const { input, output } = tokensUsed(meter, true);
  const seconds = Math.round(ranMs(meter, now) / 1000);
  const left = [
    `${Math.max(0, budget.max_input_tokens - input)} input tokens`,
    `${Math.max(0, budget.max_tool_calls - meter.toolCalls)} tool calls`,
    `${Math.max(0, Math.round(budget.timeout_ms / 1000) - seconds)} s`,
  ];
  return [
    `spawn-guard: ${spawn.trace} (${spawn.role}) ${outcome === null ? "runs" : MEANING[outcome]}${detail(spawn)}`,
    ...(contract === null ? [] : [contractWords(contract)]),
    `used ${input} input and ${output} output tokens, ${meter.toolCalls} tool calls, ${meter.turns} turns, ${seconds} s; left ${left.join(", ")}`,
    ...(hasFailed(spawn) ? [retryWords(failures, budget.retry_budget ?? 1)] : []),
  ].join("; ");
}

function detail({ outcome, detail: text }: SpawnRecord): string {
  return text === null || outcome === "completed" ? "" : ` (${text})`;
}

function contractWords({ state, status, problem }: NonNullable<SpawnRecord["contract"]>): string {
  if (state === "valid") return `contract ${status}${problem === null ? "" : ` (${problem})`}`;
  return `contract ${state} (${problem})`;
}

function retryWords(failures: number, budget: number): string {
  const left = budget - failures + 1;
  return left > 0
    ? `${failures} failed so far for this role and goal, ${left} of ${budget} retries left`
    : `${failures} failed so far for this role and goal, retry_budget ${budget} is used up: do not retry`;
}
