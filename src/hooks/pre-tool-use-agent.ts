import { judgeAgentCall } from "./agent-call.ts";
import { spawnOnError } from "./on-error.ts";
import type { Hook } from "./run-hook.ts";

export const hook: Hook = {
  event: "PreToolUse",
  handle: judgeAgentCall,
  onError: spawnOnError,
};
