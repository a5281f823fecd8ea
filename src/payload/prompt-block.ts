import { inertJson } from "./inert-text.ts";
import type { SpawnPayload } from "./spawn-payload.ts";

export type FoundBlock =
  | { kind: "none" }
  /** `start` and `end` are UTF-16 offsets of the block with its tag lines, without the last line's end */
  | { kind: "one"; json: unknown; start: number; end: number }
  | { kind: "many"; count: number }
  | { kind: "broken"; problem: string };

/**
 * A tag counts when it is alone on its line: only spaces and tabs beside it, exactly these small
 * letters. A line ends where JavaScript says so: LF, CR (so CRLF too), U+2028 or U+2029. Anything
 * else that mentions the tag is text.
 */
const TAG_LINE = /^[ \t]*<(\/?)spawn_payload>[ \t]*$/gm;

/** The payload as it stands in a prompt: tag, JSON on one line, tag. Nothing in it can close the block. */
export function renderBlock(payload: SpawnPayload): string {
  return `<spawn_payload>\n${inertJson(payload)}\n</spawn_payload>`;
}

/** Looks for the payload in a prompt. What is inside is parsed, not checked: see checkPayload. */
export function findBlock(prompt: string): FoundBlock {
  const blocks: { start: number; inside: number; insideEnd: number; end: number }[] = [];
  let opened: { start: number; inside: number } | null = null;
  for (const match of prompt.matchAll(TAG_LINE)) {
    const start = match.index;
    const end = start + match[0].length;
    const closes = match[1] === "/";
    if (closes && opened === null) return broken(prompt, start, "closes a block that was never opened");
    if (!closes && opened !== null) return broken(prompt, start, "opens a second block inside the first");
    if (opened === null) {
      opened = { start, inside: end };
    } else {
      blocks.push({ ...opened, insideEnd: start, end });
      opened = null;
    }
  }
  if (opened !== null) return broken(prompt, opened.start, "opens a block that is never closed");
  const [block, ...others] = blocks;
  if (block === undefined) return { kind: "none" };
  if (others.length > 0) return { kind: "many", count: blocks.length };
  try {
    const json: unknown = JSON.parse(prompt.slice(block.inside, block.insideEnd));
    return { kind: "one", json, start: block.start, end: block.end };
  } catch {
    return broken(prompt, block.start, "opens a block whose inside is not one JSON value");
  }
}

/** The prompt with the found block replaced by this payload's. */
export function replaceBlock(
  prompt: string,
  found: { start: number; end: number },
  payload: SpawnPayload,
): string {
  return prompt.slice(0, found.start) + renderBlock(payload) + prompt.slice(found.end);
}

/** What stands around the found block. */
export function withoutBlock(prompt: string, found: { start: number; end: number }): string {
  return `${prompt.slice(0, found.start)}\n${prompt.slice(found.end)}`;
}

function broken(prompt: string, at: number, what: string): FoundBlock {
  const line = prompt.slice(0, at).split(/\r\n|[\n\r\u2028\u2029]/).length;
  return { kind: "broken", problem: `line ${line} of the prompt ${what}` };
}
