import { forgetLaunches } from "../ledger/launches.ts";
import type { Outcome } from "../ledger/spawn-record.ts";
import type { HookContext } from "./hook-context.ts";
import { silentOnError } from "./on-error.ts";
import { settle, stopTree, turnLimit } from "./outcome.ts";
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
    const lines = notifications(prompt).map((notification) => notified(notification, context));
    const told = lines.filter((line) => line !== undefined);
    return told.length === 0 ? {} : { context: told.join("\n") };
  },
  onError: silentOnError,
};

const OPENING = "<task-notification>\n";
const CLOSING = "\n</task-notification>";

/**
 * The notifications that a prompt begins with. The host's own prompt is nothing else; a person may paste such lines
 * into theirs.
 */
function notifications(prompt: string): string[] {
  const found: string[] = [];
  let rest = prompt;
  while (rest.startsWith(OPENING)) {
    const end = rest.indexOf(CLOSING);
    if (end < 0) break;
    found.push(rest.slice(0, end));
    rest = rest.slice(end + CLOSING.length).trimStart();
  }
  return found;
}

function notified(notification: string, context: HookContext): string | undefined {
  const { ledger } = context;
  const call = member(notification, "tool-use-id");
  const agent = member(notification, "task-id");
  const outcome = OUTCOMES[member(notification, "status") ?? ""];
  if (outcome === undefined) return undefined;
  if (call !== null) forgetLaunches(ledger, (launch) => launch.call === call);
  // A resumed agent's notification names the SendMessage call; its task id is the agent.
  const byAgent = agent === null ? null : (ledger.agent(agent)?.trace ?? null);
  const trace = byAgent ?? (call === null ? null : ledger.traceOfCall(call));
  if (trace === null) return undefined;
  if (outcome === "stopped") stopTree(trace, "task notification", context);
  const exhausted = ledger.record(trace)?.meter.exhausted ?? null;
  if (exhausted !== null) return settle(trace, "budget_exhausted", exhausted, context).context;
  const limit = outcome === "completed" ? turnLimit(/^<result>(.*)/m.exec(notification)?.[1] ?? "") : null;
  const end: [Outcome, string | null] = limit ?? [outcome, null];
  return settle(trace, ...end, context).context;
}

function member(notification: string, tag: string): string | null {
  const value = new RegExp(`^<${tag}>([A-Za-z0-9_-]{1,200})</${tag}>$`, "m").exec(notification);
  return value?.[1] ?? null;
}
