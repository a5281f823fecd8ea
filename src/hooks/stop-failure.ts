import { endSpawn } from "../ledger/ending.ts";
import { silentOnError } from "./on-error.ts";
import type { Hook } from "./run-hook.ts";
import { spawnOfEvent } from "./subagent.ts";

/** A subagent's run ended with an API error. */
export const hook: Hook = {
  event: "StopFailure",
  handle: (event, context) => {
    const spawn = spawnOfEvent(event, context);
    const message = event.raw.last_assistant_message;
    const detail = typeof message === "string" ? message.slice(0, 300) : "API error";
    if (spawn !== null) endSpawn(context.ledger, spawn.trace, "failed", detail, context.now);
    return {};
  },
  onError: silentOnError,
};
