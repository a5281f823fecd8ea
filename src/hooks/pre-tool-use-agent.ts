import { judgeAgentCall } from "./agent-call.ts";
import { spawnOnError } from "./on-error.ts";
import { runHook } from "./run-hook.ts";

void runHook("PreToolUse", judgeAgentCall, spawnOnError);
