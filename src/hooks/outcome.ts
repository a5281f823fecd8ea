import { outcomeLine } from "../guard/outcome-line.ts";
import { endSpawn, failureKey, settleSpawn } from "../ledger/ending.ts";
import type { Outcome, SpawnRecord } from "../ledger/spawn-record.ts";
import type { Answer } from "./answer.ts";
import type { HookContext } from "./hook-context.ts";

/**
 * Ends a spawn on the word of its caller's events, counts what its transcript shows only now, and tells the caller
 * in one line what came of it.
 */
export function settle(trace: string, outcome: Outcome, detail: string | null, context: HookContext): Answer {
  const { ledger, now } = context;
  const ended = endSpawn(ledger, trace, outcome, detail, now);
  if (ended === null) return {};
  const settled = settleSpawn(ledger, ended.trace, (meter) => context.readOn(meter, ended.agent)) ?? ended;
  return { context: told(settled, context) };
}

function told(spawn: SpawnRecord, { ledger, now }: HookContext): string {
  const key = failureKey(spawn);
  const failures = ledger.session()?.failures.find((known) => known.key === key)?.times ?? 0;
  return outcomeLine(spawn, failures, spawn.endedAt ?? now);
}

/**
 * What the outcome of an agent is called that ran into the host's maxTurns, of which the host tells in words of its
 * own (recordings max-turns-foreground and max-turns-background); null when the text does not begin with them.
 */
export function turnLimit(text: string): [Outcome, string] | null {
  const turns = /^NOTE: this agent stopped at its (\d+)-turn limit/.exec(text)?.[1];
  return turns === undefined ? null : ["turn_limit", `the host's limit of ${turns} turns`];
}

/**
 * Ends a spawn that was stopped, and before it the children that it was waiting for: the host ends those without a
 * word (measured), and they are no orphans. Children in the background go on.
 */
export function stopTree(trace: string, detail: string, context: HookContext): void {
  const { ledger, now } = context;
  const running = ledger.session()?.running ?? {};
  for (const [child, slot] of Object.entries(running)) {
    if (slot.parent !== trace || slot.agent === null || slot.depth <= (running[trace]?.depth ?? 0)) continue;
    if (context.sidecarOf(slot.agent)?.foreground === true)
      stopTree(child, "its parent was stopped", context);
  }
  endSpawn(ledger, trace, "stopped", detail, now);
}
