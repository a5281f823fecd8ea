import { MAX_TYPED } from "../ledger/session-state.ts";
import { isJson } from "../ledger/shape.ts";
import type { HookContext } from "./hook-context.ts";
import { silentOnError } from "./on-error.ts";
import type { Hook } from "./run-hook.ts";

/** /subagent-spawn typed by the person: the raw argument text is parsed here, and no argument meets a shell. */
export const hook: Hook = {
  event: "UserPromptExpansion",
  handle: async ({ raw }, context) => {
    const { command_name: name, command_args: args } = raw;
    if (name !== "spawn-guard:subagent-spawn" && name !== "subagent-spawn") return {};
    const { skillAnswer } = await import("./skill-answer.ts");
    const answer = skillAnswer(typeof args === "string" ? args : "", true, context.projectFolder);
    await rememberTyped(answer.payload, context);
    return { context: answer.context };
  },
  onError: silentOnError,
};

/** A spawn with this very payload is the person's own wish, whoever makes the call (DESIGN "Audit", fresh). */
async function rememberTyped(payload: unknown, { ledger }: HookContext): Promise<void> {
  if (!isJson(payload) || typeof payload.trace_id !== "string") return;
  const { payloadSum } = await import("../payload/payload-sum.ts");
  const typed = { trace: payload.trace_id, sum: payloadSum(payload) };
  ledger.updateSession((state) => ({ ...state, typed: [...state.typed, typed].slice(-MAX_TYPED) }));
}
