import { parseToolCall } from "./hook-event.ts";
import { toolOnError } from "./on-error.ts";
import type { Hook } from "./run-hook.ts";
import { denied, judgeSubagent, recordRefused, spawnOfEvent } from "./subagent.ts";

export const hook: Hook = {
  event: "PreToolUse",
  handle: async (event, context) => {
    const spawn = spawnOfEvent(event, context);
    if (spawn === null) return {};
    const call = parseToolCall(event);
    const judged = judgeSubagent(spawn, call, event.cwd, context);
    if (judged.refused === null) return {};
    await recordRefused(context, call, judged.spawn, judged.refused);
    return denied(judged.refused, judged.halt);
  },
  onError: toolOnError,
};
