import { endSpawn } from "../ledger/ending.ts";
import { forgetLaunches } from "../ledger/launches.ts";
import type { Outcome } from "../ledger/spawn-record.ts";
import type { HookContext } from "./hook-context.ts";
import { silentOnError } from "./on-error.ts";
import type { Hook } from "./run-hook.ts";

const OUTCOMES: Readonly<Record<string, Outcome>> = {
  completed: "completed",
  failed: "failed",
  killed: "stopped",
};

/** A background agent's end comes back to the main thread as a prompt of the host's own. */
export const hook: Hook = {
  event: "UserPromptSubmit",
  handle: (event, context) => {
    const { prompt } = event.raw;
    if (typeof prompt !== "string") return {};
    for (const [notification] of prompt.matchAll(/^<task-notification>$[\s\S]*?^<\/task-notification>$/gm)) {
      settle(notification, context);
    }
    return {};
  },
  onError: silentOnError,
};

function settle(notification: string, { ledger, now }: HookContext): void {
  const call = member(notification, "tool-use-id");
  const outcome = OUTCOMES[member(notification, "status") ?? ""];
  if (outcome === undefined) return;
  const agent = member(notification, "task-id");
  // A resumed agent's notification names the SendMessage call; its task id is the agent.
  const trace =
    (agent === null ? null : ledger.agent(agent)?.trace) ?? (call === null ? null : ledger.traceOfCall(call));
  if (trace !== null) endSpawn(ledger, trace, outcome, "task notification", now);
  if (call !== null) forgetLaunches(ledger, (launch) => launch.call === call);
}

function member(notification: string, tag: string): string | null {
  const value = new RegExp(`^<${tag}>([A-Za-z0-9_-]{1,200})</${tag}>$`, "m").exec(notification);
  return value?.[1] ?? null;
}
