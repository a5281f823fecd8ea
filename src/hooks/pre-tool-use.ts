import { parseToolCall } from "./hook-event.ts";
import { toolOnError } from "./on-error.ts";
import type { Hook } from "./run-hook.ts";
import { denied, judgeSubagent, spawnOfEvent } from "./subagent.ts";

export const hook: Hook = {
  event: "PreToolUse",
  handle: async (event, context) => {
    const spawn = spawnOfEvent(event, context);
    if (spawn === null) return {};
    const { refused, halt } = await judgeSubagent(spawn, parseToolCall(event), event.cwd, context);
    return refused === null ? {} : denied(refused, halt);
  },
  onError: toolOnError,
};
