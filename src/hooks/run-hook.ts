import { writeSync } from "node:fs";
import { codeOf } from "../ledger/files.ts";
import { pause } from "../ledger/pause.ts";
import { type Answer, renderAnswer, withMessage } from "./answer.ts";
import { HookContext } from "./hook-context.ts";
import { BadInput, type HookEvent, parseHookEvent } from "./hook-event.ts";
import { readStandardInput } from "./standard-input.ts";

/** Decides about one event. */
export type Handler = (event: HookEvent, context: HookContext) => Answer | Promise<Answer>;

/** What a hook answers to an event that it could not judge; `context` is null when not even that was known. */
export type OnError = (context: HookContext | null, event: HookEvent | null) => Answer | Promise<Answer>;

/** One hook script: the event it is for, what it decides, and what it says when it cannot. */
export type Hook = { event: string; handle: Handler; onError: OnError };

/**
 * Runs one hook: reads all of standard input, unless it has been read already, decides, writes at most one JSON
 * object, and always exits with 0 (DESIGN "Failure"). What goes wrong is answered by `onError` and said to the person.
 */
export async function runHook({ event: name, handle, onError }: Hook, given?: Uint8Array): Promise<void> {
  let context: HookContext | null = null;
  let event: HookEvent | null = null;
  let answer: Answer;
  try {
    const input = given ?? readStandardInput();
    context = new HookContext(process.env, Date.now());
    event = parseHookEvent(input);
    context.open(event);
    answer = withMessage(await decide(handle, event, context), context.report());
  } catch (error) {
    answer = withMessage(await safely(onError, context, event), describe(name, error));
    answer = withMessage(answer, context?.report() ?? null);
  }
  const output = renderAnswer(name, answer);
  if (output !== null) writeAll(JSON.stringify(output));
  // All of the answer has been taken (`writeAll`), and nothing is left to wait for: winding Node down takes longer than
  // a decision.
  process.exit(0);
}

/** Decides about one event, and records what that has changed about spawns. */
export async function decide(handle: Handler, event: HookEvent, context: HookContext): Promise<Answer> {
  const decided = await handle(event, context);
  if (context.ledger.transitions.length > 0) {
    const { auditTransitions } = await import("./audit-transitions.ts");
    auditTransitions(context);
  }
  return decided;
}

async function safely(
  onError: OnError,
  context: HookContext | null,
  event: HookEvent | null,
): Promise<Answer> {
  try {
    return await onError(context, event);
  } catch {
    return onError(null, event);
  }
}

function describe(name: string, error: unknown): string {
  const what = error instanceof BadInput ? "bad input" : "an error";
  const message = error instanceof Error ? error.message : String(error);
  return `spawn-guard could not judge a ${name} event (${what}: ${message.slice(0, 300)})`;
}

function writeAll(text: string): void {
  const bytes = Buffer.from(text, "utf8");
  for (let written = 0; written < bytes.length; ) {
    try {
      written += writeSync(1, bytes, written);
    } catch (error) {
      if (codeOf(error) !== "EAGAIN") return;
      pause(1);
    }
  }
}
