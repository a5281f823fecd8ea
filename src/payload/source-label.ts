import { countCharacters } from "./show-value.ts";
import { isTraceId } from "./trace-id.ts";

/** The closed form of labels, for error texts. */
export const SOURCE_FORM =
  "L0:<what a person or page says>, L2:<project document>, L4:<memory>, tool:<Tool>:<id> or subagent:<role>:<trace id>";

/** characters of a label */
export const LABEL_MAX = 200;
const STATE = "L0:state:";

/**
 * Whether a text says in the closed form where content comes from: the layer it was taken from (`L0:` from outside,
 * `L2:` the project's documents, `L4:` memory) and its name, the tool and call, or the subagent and its spawn. One
 * line of at most 200 characters.
 */
export function isSourceLabel(label: string): boolean {
  if (/[\p{Cc}\p{Cs}\u2028\u2029]/u.test(label) || countCharacters(label) > LABEL_MAX) return false;
  if (/^(?:L[024]:\S(?:.*\S)?|tool:[A-Za-z_][\w.-]*:\S+)$/u.test(label)) return true;
  const [, trace] = /^subagent:[A-Za-z0-9][A-Za-z0-9-]*:(.*)$/u.exec(label) ?? [];
  return isTraceId(trace);
}

/** The label of a state slice that came in under this name (a path, `stdin`, `arguments`). */
export function stateLabel(name: string): string {
  const label = STATE + name;
  return isSourceLabel(label) ? label : `${STATE}file`;
}

/** Whether a label names the state slice itself, in which values that are no text need no envelope. */
export function isStateLabel(label: string): boolean {
  return label.startsWith(STATE);
}
