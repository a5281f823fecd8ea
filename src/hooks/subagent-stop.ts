import { endSpawn } from "../ledger/ending.ts";
import { silentOnError } from "./on-error.ts";
import { runHook } from "./run-hook.ts";
import { spawnOfEvent } from "./subagent.ts";

void runHook(
  "SubagentStop",
  (event, context) => {
    const spawn = spawnOfEvent(event, context);
    if (spawn !== null) endSpawn(context.ledger, spawn.trace, "completed", null, context.now);
    return {};
  },
  silentOnError,
);
