import { closeSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { namesIn } from "../ledger/files.ts";
import { hasShape, isText } from "../ledger/shape.ts";

const SEGMENT = /^[0-9]{6,}\.jsonl$/;
const CHUNK_BYTES = 65_536;

export function segmentName(segment: number): string {
  return `${String(segment).padStart(6, "0")}.jsonl`;
}

/** The segments of a chain by number, in order. */
export function segmentsOf(folder: string): { file: string; segment: number }[] {
  return namesIn(folder)
    .filter((name) => SEGMENT.test(name))
    .map((name) => ({ file: join(folder, name), segment: Number.parseInt(name, 10) }))
    .sort((a, b) => a.segment - b.segment);
}

/** A file's lines as they stand; `complete` is false for a last one without its line end. */
export function* linesOf(
  file: string,
): Generator<{ text: string; number: number; complete: boolean; end: number }> {
  const descriptor = openSync(file, "r");
  try {
    let rest = Buffer.alloc(0);
    let number = 0;
    let end = 0;
    const chunk = Buffer.alloc(CHUNK_BYTES);
    for (let count = 1; count > 0; ) {
      count = readSync(descriptor, chunk, 0, CHUNK_BYTES, null);
      rest = Buffer.concat([rest, chunk.subarray(0, count)]);
      for (let cut = rest.indexOf(10); cut >= 0; cut = rest.indexOf(10)) {
        end += cut + 1;
        number += 1;
        yield { text: rest.subarray(0, cut).toString("utf8"), number, complete: true, end };
        rest = rest.subarray(cut + 1);
      }
    }
    if (rest.length > 0) {
      yield { text: rest.toString("utf8"), number: number + 1, complete: false, end: end + rest.length };
    }
  } finally {
    closeSync(descriptor);
  }
}

export type FoundEnd = {
  count: number;
  entry: string;
  line: string;
  segment: number;
  start: number;
  end: number;
  recent: string[];
};

/** Where a chain's files end, when its head is lost; null when they hold nothing. Looks at every line. */
export function readChainEnd(folder: string): FoundEnd | null {
  let found: FoundEnd | null = null;
  const recent: string[] = [];
  let count = 0;
  for (const { file, segment } of segmentsOf(folder)) {
    for (const { text, complete, end } of linesOf(file)) {
      const receipt = complete ? parseEnd(text) : null;
      if (receipt === null) continue;
      count += 1;
      recent.push(receipt.entry.entry_id);
      if (recent.length > 64) recent.shift();
      found = {
        count,
        entry: receipt.entry.entry_hash,
        line: receipt.line_hash,
        segment,
        start: end,
        end,
        recent,
      };
    }
  }
  return found;
}

type LineEnd = { entry: { entry_id: string; entry_hash: string }; line_hash: string };

function parseEnd(text: string): LineEnd | null {
  try {
    const value: unknown = JSON.parse(text);
    return isLineEnd(value) ? value : null;
  } catch {
    return null;
  }
}

function isLineEnd(value: unknown): value is LineEnd {
  return hasShape(value, {
    line_hash: isText,
    entry: (entry) => hasShape(entry, { entry_id: isText, entry_hash: isText }),
  });
}
