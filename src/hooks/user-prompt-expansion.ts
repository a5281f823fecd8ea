import { silentOnError } from "./on-error.ts";
import type { Hook } from "./run-hook.ts";

/** /subagent-spawn typed by the person: the raw argument text is parsed here, and no argument meets a shell. */
export const hook: Hook = {
  event: "UserPromptExpansion",
  handle: async ({ raw }, context) => {
    const { command_name: name, command_args: args } = raw;
    if (name !== "spawn-guard:subagent-spawn" && name !== "subagent-spawn") return {};
    const { skillAnswer } = await import("./skill-answer.ts");
    return { context: skillAnswer(typeof args === "string" ? args : "", true, context.projectFolder) };
  },
  onError: silentOnError,
};
