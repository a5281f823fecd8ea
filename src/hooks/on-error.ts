import { reasons } from "../guard/reasons.ts";
import type { HookContext } from "./hook-context.ts";
import type { HookEvent } from "./hook-event.ts";
import type { OnError } from "./run-hook.ts";

/**
 * A spawn that cannot be judged: refused unless the user's policy says otherwise, and recorded like any other. One that
 * policy lets through and nobody could record follows `audit`.
 */
export const spawnOnError: OnError = async (context, event) => {
  const isAllowed = context !== null && context.policy.spawn_on_error === "allow";
  const missed = await recorded(context, event, isAllowed ? "allow" : "deny");
  if (!isAllowed) return { deny: reasons.notJudged().reason };
  const isNeeded = missed !== null && context.policy.audit === "require";
  return isNeeded ? { deny: reasons.notRecorded(missed).reason } : {};
};

/** A tool call that cannot be judged: let through by default; never refused on the main thread. */
export const toolOnError: OnError = async (context, event) => {
  const isDenied =
    event !== null && event.agentId !== null && context !== null && context.policy.tool_on_error === "deny";
  await recorded(context, event, isDenied ? "deny" : "allow");
  return isDenied ? { deny: reasons.notJudged().reason } : {};
};

/** What has no say in anything: silence. */
export const silentOnError: OnError = () => ({});

/** Why there is no receipt of it, or null. What records it is loaded for errors alone. */
async function recorded(
  context: HookContext | null,
  event: HookEvent | null,
  decision: "allow" | "deny",
): Promise<string | null> {
  if (context === null || event === null) return "the event cannot be read";
  const { auditUnjudged } = await import("./audit-unjudged.ts");
  return auditUnjudged(context, event, decision);
}
