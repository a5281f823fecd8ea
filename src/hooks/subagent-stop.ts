import { endSpawn } from "../ledger/ending.ts";
import { silentOnError } from "./on-error.ts";
import type { Hook } from "./run-hook.ts";
import { spawnOfEvent } from "./subagent.ts";

export const hook: Hook = {
  event: "SubagentStop",
  handle: (event, context) => {
    const spawn = spawnOfEvent(event, context);
    if (spawn !== null) endSpawn(context.ledger, spawn.trace, "completed", null, context.now);
    return {};
  },
  onError: silentOnError,
};
