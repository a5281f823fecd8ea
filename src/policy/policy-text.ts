import { splitAtCommas } from "../guard/tools/comma-list.ts";
import { parseToolRule } from "../guard/tools/tool-rule.ts";
import type { TextRule } from "./policy-keys.ts";

/** `/x`, `C:\\x`, `\\\\server\\x`: what stands in no project, whichever folder a hook runs in. */
const ABSOLUTE = /^(?:\/|[A-Za-z]:[\\/]|\\\\)/;

/**
 * What a text must be instead, in words that follow "it must be", or null where it will do. A tool that nobody knows
 * will do: there may be one of that name. Free of Node.
 */
export function textProblem({ holds }: TextRule, text: string): string | null {
  if (holds === "file") return text === "" || ABSOLUTE.test(text) ? null : "an absolute path";
  const rules = splitAtCommas(text).map(parseToolRule);
  if (rules.length === 0) return "at least one tool rule, such as Read, or * for all";
  const unreadable = rules.find((rule) => rule.kind === "unreadable");
  return unreadable === undefined ? null : `tool rules that can be read, and ${unreadable.problem}`;
}
