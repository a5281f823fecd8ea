import { reasons } from "../guard/reasons.ts";
import type { Answer } from "./answer.ts";
import type { OnError } from "./run-hook.ts";

/** A spawn that cannot be judged: refused unless the user's policy says otherwise. */
export const spawnOnError: OnError = (context) =>
  context !== null && context.policy.spawn_on_error === "allow" ? {} : { deny: reasons.notJudged().reason };

/** A tool call that cannot be judged: let through by default; never refused on the main thread. */
export const toolOnError: OnError = (context, event): Answer =>
  event !== null && event.agentId !== null && context?.policy.tool_on_error === "deny"
    ? { deny: reasons.notJudged().reason }
    : {};

/** What has no say in anything: silence. */
export const silentOnError: OnError = () => ({});
