import { toolOnError } from "./on-error.ts";
import { runHook } from "./run-hook.ts";
import { judgeSubagent, spawnOfEvent } from "./subagent.ts";

void runHook(
  "PreToolUse",
  (event, context) => {
    const spawn = spawnOfEvent(event, context);
    const refused = spawn === null ? null : judgeSubagent(spawn, context).refused;
    return refused === null ? {} : { deny: refused.reason };
  },
  toolOnError,
);
