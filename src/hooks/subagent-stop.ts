import { askFor, judgeContract } from "../guard/contract.ts";
import { endSpawn } from "../ledger/ending.ts";
import { estimateTokens } from "../ledger/meter.ts";
import { pause } from "../ledger/pause.ts";
import type { ContractRecord, SpawnRecord } from "../ledger/spawn-record.ts";
import type { Answer } from "./answer.ts";
import type { HookContext } from "./hook-context.ts";
import type { HookEvent } from "./hook-event.ts";
import { silentOnError } from "./on-error.ts";
import type { Hook } from "./run-hook.ts";
import { reportStop } from "./stop-report.ts";
import { metered, spawnOfEvent } from "./subagent.ts";

/** The last lines of a transcript are often not on disk yet; what comes later is counted by `settleSpawn`. */
const WAIT_FOR_LINES_MS = 200;
const LOOK_EVERY_MS = 10;

/** A subagent hands in its last message: its contract is judged, and its spawn ends. */
export const hook: Hook = {
  event: "SubagentStop",
  handle: async (event, context) => {
    const spawn = spawnOfEvent(event, context);
    if (spawn === null) return {};
    const { last_assistant_message: message, agent_transcript_path: transcript } = event.raw;
    const given = typeof transcript === "string" ? transcript : null;
    const last = typeof message === "string" ? message : "";
    waitForLastLines(spawn, given, context);
    const contract = await contractOf(metered(spawn, context, given), last);
    const stopped = stop(spawn, withSize(contract, overOutput(spawn, last)), given, context);
    const ask = whatToAsk(stopped, contract, last, event, context);
    if (ask !== null) return ask;
    const report = reportStop(stopped, event, context);
    const { meter, trace } = stopped;
    endSpawn(
      context.ledger,
      trace,
      meter.exhausted === null ? "completed" : "budget_exhausted",
      meter.exhausted,
      context.now,
    );
    return report === null ? {} : { message: report };
  },
  onError: silentOnError,
};

/** The validator is loaded here alone: most of what a hook does needs none. */
async function contractOf(spawn: SpawnRecord, message: string): Promise<ContractRecord> {
  const { checkContract } = await import("../payload/validate.ts");
  return judgeContract(spawn, message, checkContract);
}

function stop(
  spawn: SpawnRecord,
  contract: ContractRecord,
  given: string | null,
  context: HookContext,
): SpawnRecord {
  const stopped = context.ledger.updateRecord(spawn.trace, (record) => {
    const current = metered(record ?? spawn, context, given);
    if (current.phase === "ended") return current.contract === null ? { ...current, contract } : null;
    return { ...current, contract, seenAt: Math.max(current.seenAt, context.now) };
  });
  return stopped ?? spawn;
}

/** Waits until the transcript holds one message more than responses that called tools: the last one. */
function waitForLastLines(spawn: SpawnRecord, given: string | null, context: HookContext): void {
  for (let waited = 0; waited < WAIT_FOR_LINES_MS; waited += LOOK_EVERY_MS) {
    const { meter } = metered(spawn, context, given);
    if (meter.transcript.file === null || context.messagesIn(meter) > meter.turns) return;
    pause(LOOK_EVERY_MS);
  }
}

/**
 * In contract_mode ask, a spawn whose caller gave the payload is asked once for a contract that can be used and a
 * message that fits. Never twice, never for one that ran out of its budget (cases 66, 67).
 */
function whatToAsk(
  spawn: SpawnRecord,
  contract: ContractRecord,
  message: string,
  event: HookEvent,
  context: HookContext,
): Answer | null {
  const asks = context.policy.contract_mode === "ask" && spawn.origin === "caller";
  if (!asks || contract.asked || event.raw.stop_hook_active === true || spawn.meter.exhausted !== null)
    return null;
  const tooLong = overOutput(spawn, message);
  if (contract.state === "valid" && tooLong === null) return null;
  context.ledger.updateRecord(spawn.trace, (record) =>
    record === null ? null : { ...record, contract: { ...contract, asked: true } },
  );
  return { block: askFor(contract, spawn.trace, tooLong) };
}

/** A message that is too long is said to the caller with what is said of its contract. */
function withSize(contract: ContractRecord, tooLong: string | null): ContractRecord {
  const said = [contract.problem, tooLong].filter((part) => part !== null);
  return { ...contract, problem: said.length === 0 ? null : said.join("; ") };
}

/** The final message's size is an estimate, bytes / 4 (DESIGN "Budgets"). */
function overOutput({ payload }: SpawnRecord, message: string): string | null {
  const tokens = estimateTokens(message);
  const limit = payload.budget.max_output_tokens;
  return tokens > limit ? `the last message is about ${tokens} tokens, ${limit} are allowed` : null;
}
