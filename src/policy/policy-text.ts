import { splitAtCommas } from "../guard/tools/comma-list.ts";
import { parseToolRule } from "../guard/tools/tool-rule.ts";
import type { Policy } from "./policy-keys.ts";

/** `/x`, `C:\\x`, `\\\\server\\x`: what stands in no project, whichever folder a hook runs in. */
const ABSOLUTE = /^(?:\/|[A-Za-z]:[\\/]|\\\\)/;

/** What session_intent must be instead, or null. A tool that nobody knows will do: there may be one of that name. */
export function intentProblem(text: string): string | null {
  const rules = splitAtCommas(text).map(parseToolRule);
  if (rules.length === 0) return "it must be at least one tool rule, such as Read, or * for all";
  const unreadable = rules.find((rule) => rule.kind === "unreadable");
  return unreadable === undefined
    ? null
    : `it must be tool rules that can be read, and ${unreadable.problem}`;
}

/** What audit_key_file must be instead, or null; it may be empty. */
export function keyFileProblem(text: string): string | null {
  return text === "" || ABSOLUTE.test(text) ? null : "it must be an absolute path";
}

/**
 * A sentence for each text of the policy that cannot be used. It is kept as it is, and holds where it is used: no spawn
 * is within an intent that cannot be read, and no receipt is signed by a file in nobody's place. Free of Node.
 */
export function textProblems({ session_intent: intent, audit_key_file: file }: Policy): string[] {
  const sentence = (key: string, value: string, what: string, problem: string | null) =>
    problem === null ? [] : [`${key} is ${JSON.stringify(value)}; ${problem}. ${what} until you mend it`];
  return [
    ...sentence("session_intent", intent, "No spawn is admitted", intentProblem(intent)),
    ...sentence("audit_key_file", file, "Receipts are not signed", keyFileProblem(file)),
  ];
}
