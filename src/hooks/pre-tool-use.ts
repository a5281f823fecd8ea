import { toolOnError } from "./on-error.ts";
import type { Hook } from "./run-hook.ts";
import { judgeSubagent, spawnOfEvent } from "./subagent.ts";

export const hook: Hook = {
  event: "PreToolUse",
  handle: (event, context) => {
    const spawn = spawnOfEvent(event, context);
    const refused = spawn === null ? null : judgeSubagent(spawn, context).refused;
    return refused === null ? {} : { deny: refused.reason };
  },
  onError: toolOnError,
};
