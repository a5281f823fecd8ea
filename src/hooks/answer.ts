import type { Json } from "../ledger/shape.ts";

/**
 * What a hook says. Letting something through is silence: the word "allow" would skip the person's own
 * permission prompt (DESIGN "Failure").
 */
export type Answer = {
  /** refuses the call; for PreToolUse only */
  deny?: string;
  /** asks the person instead of deciding; for PreToolUse only */
  ask?: string;
  /** ends the subagent; for the person */
  halt?: string;
  /** replaces the call's input; for PreToolUse only */
  updatedInput?: Json;
  /** for the model */
  context?: string;
  /** lets a subagent go on with this as its next instruction, or keeps a settings change out */
  block?: string;
  /** for the person */
  message?: string;
};

/** The host cuts longer contexts down to a preview (measured on 2.1.332). */
export const MAX_CONTEXT = 9_000;

/** The one JSON object that goes to standard output, or null for silence. */
export function renderAnswer(event: string, answer: Answer): Json | null {
  const specific: Json = {};
  if (answer.deny !== undefined) {
    specific.permissionDecision = "deny";
    specific.permissionDecisionReason = answer.deny;
  } else if (answer.ask !== undefined) {
    specific.permissionDecision = "ask";
    specific.permissionDecisionReason = answer.ask;
  }
  if (answer.updatedInput !== undefined && answer.deny === undefined)
    specific.updatedInput = answer.updatedInput;
  if (answer.context !== undefined) specific.additionalContext = answer.context.slice(0, MAX_CONTEXT);
  const output: Json = {};
  if (Object.keys(specific).length > 0) output.hookSpecificOutput = { hookEventName: event, ...specific };
  if (answer.block !== undefined) Object.assign(output, { decision: "block", reason: answer.block });
  if (answer.halt !== undefined) Object.assign(output, { continue: false, stopReason: answer.halt });
  if (answer.message !== undefined) output.systemMessage = answer.message;
  return Object.keys(output).length > 0 ? output : null;
}

/** Joins what several parts of one decision have to say to the person. */
export function withMessage(answer: Answer, message: string | null): Answer {
  if (message === null) return answer;
  return { ...answer, message: answer.message === undefined ? message : `${answer.message}\n${message}` };
}
