import { withoutBlock } from "./prompt-block.ts";
import { isStateLabel } from "./source-label.ts";
import type { FieldProblem, SpawnPayload } from "./spawn-payload.ts";
import { isWrapped, textsIn } from "./state-slice.ts";
import { fromMarkup } from "./untrusted-content.ts";
import { type CheckedPayload, checkPayload } from "./validate.ts";

/** Opening and closing tags of envelopes, as a model may read them: any case, spaces before the name, however they end. */
const TAG = /<([\s/]*)untrusted_content\b([^<>]*)/gi;
const HOW =
  'put its text between <untrusted_content source="…" timestamp="…"> and </untrusted_content>, as spawn-guard build does';

/**
 * Checks the payload that a caller wrote into a prompt: against the schema, and what it lists as untrusted against
 * what stands in the prompt and in its state_slice.
 *
 * @param json what the block in the prompt holds
 * @param found where that block stands
 */
export function checkGivenPayload(
  json: unknown,
  prompt: string,
  found: { start: number; end: number },
): CheckedPayload {
  const checked = checkPayload(json);
  if (!checked.ok) return checked;
  const problems = untrustedProblems(checked.payload, withoutBlock(prompt, found));
  return problems.length === 0 ? checked : { ok: false, problems };
}

function untrustedProblems(payload: SpawnPayload, prompt: string): FieldProblem[] {
  const listed = payload.untrusted_inputs ?? [];
  if (listed.length === 0) return [];
  const opened = new Set<string>();
  const problems: FieldProblem[] = [];
  for (const text of [prompt, ...textsIn(payload.state_slice)]) {
    const envelopes = readEnvelopes(text);
    for (const source of envelopes.sources) opened.add(source);
    if (envelopes.problem !== null) problems.push({ field: "untrusted_inputs", problem: envelopes.problem });
  }
  for (const [index, { source, wrapped }] of listed.entries()) {
    const field = `untrusted_inputs[${index}]`;
    const shown = JSON.stringify(source.slice(0, 200));
    if (!wrapped) problems.push({ field, problem: `lists ${shown} with wrapped false; ${HOW}` });
    else if (!opened.has(source) && !isPlainState(source, payload))
      problems.push({ field, problem: `lists ${shown} as wrapped, and no envelope names it; ${HOW}` });
  }
  return problems;
}

/** A state slice of paths, branches and numbers has no text that an envelope could hold. */
function isPlainState(source: string, { state_slice: slice = {} }: SpawnPayload): boolean {
  return isStateLabel(source) && Object.keys(slice).length > 0 && isWrapped(slice);
}

/** The sources that a text's envelopes name, and what is wrong where tags do not come in pairs. */
function readEnvelopes(text: string): { sources: string[]; problem: string | null } {
  const sources: string[] = [];
  let open = false;
  // Letters that nobody sees part no tag.
  const seen = text.replace(/\p{Cf}/gu, "");
  for (const [, before = "", attributes = ""] of seen.matchAll(TAG)) {
    const closes = before.includes("/");
    if (closes !== open) {
      const what = closes ? "closes an envelope that is not open" : "opens an envelope inside another";
      return {
        sources,
        problem: `cannot be told from the rest: a text ${what}; build it with spawn-guard build`,
      };
    }
    open = !closes;
    const source = /\ssource="([^"]*)"/.exec(attributes)?.[1];
    if (open && source !== undefined) sources.push(fromMarkup(source));
  }
  return { sources, problem: open ? "end in an envelope that is never closed; close it" : null };
}
