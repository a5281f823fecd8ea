import type { Answer } from "../../src/hooks/answer.ts";
import { EVENT_TABLE } from "../../src/hooks/event-table.ts";
import type { HookContext } from "../../src/hooks/hook-context.ts";
import { parseHookEvent } from "../../src/hooks/hook-event.ts";
import { decide, type Hook } from "../../src/hooks/run-hook.ts";
import { matchesTool } from "./host-matcher.ts";

/**
 * Decides about one event in this process, by the event table's handlers and the host's rules for matchers, as the
 * built scripts would. The context must be fresh; it is opened here.
 */
export async function handleEvent(input: Record<string, unknown>, context: HookContext): Promise<Answer> {
  const event = parseHookEvent(Buffer.from(JSON.stringify(input)));
  context.open(event);
  const row = EVENT_TABLE.find(
    (candidate) => candidate.event === event.name && matchesTool(candidate.matcher, event.raw.tool_name),
  );
  const text = JSON.stringify(input);
  if (row === undefined || (row.words !== undefined && !row.words.some((word) => text.includes(word))))
    return {};
  const { hook }: { hook: Hook } = await import(`../../src/hooks/${row.script}.ts`);
  return decide(hook.handle, event, context);
}
