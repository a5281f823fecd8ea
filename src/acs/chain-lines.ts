import { closeSync, constants, readSync } from "node:fs";
import { basename } from "node:path";
import {
  type Line,
  linesOf,
  openRegular,
  segmentFile,
  segmentName,
  segmentsOf,
  sizeOf,
} from "./chain-files.ts";
import type { Head } from "./chain-head.ts";

/** Where something stands in a chain. `line` is 1-based; 0 speaks of the file as a whole. */
export type Place = { file: string; line: number };

export type ChainLine = { place: Place; bytes: Buffer; problem: string | null };

/**
 * All lines of a chain, those that only its head holds last: a hook was killed before it had written them, or is
 * about to. Ends at the first that has a `problem`; `notices` is told of lines that are not written yet.
 */
export function* linesOfChain(folder: string, head: Head | null, notices: string[]): Generator<ChainLine> {
  const tail = unwrittenTail(folder, head);
  const segments = segmentsOf(folder);
  if (tail !== null && !segments.some(({ file }) => file === tail.file)) segments.push(tail);
  for (const [index, { file, segment }] of segments.entries()) {
    const outOfOrder = orderProblem(file, segment, index + 1);
    if (outOfOrder !== null) {
      yield { place: { file: folder, line: 0 }, bytes: Buffer.alloc(0), problem: outOfOrder };
      return;
    }
    const lines = tail?.file === file ? withTail(tail) : linesOf(file);
    for (const { bytes, number, complete } of lines) {
      const problem = complete
        ? null
        : "the line has no end, or is longer than any receipt: it was torn or cut";
      yield { place: { file, line: number }, bytes, problem };
      if (problem !== null) return;
    }
  }
  if (tail !== null) {
    notices.push(
      `${tail.file}: the tail is not written yet (${tail.lines.length} entries, which the head holds); the next receipt mends it (a killed hook does this)`,
    );
  }
}

function orderProblem(file: string, segment: number, expected: number): string | null {
  if (segment > expected) return `${segmentName(expected)} is missing`;
  return basename(file) === segmentName(expected) ? null : `${basename(file)} is no segment of this chain`;
}

/** Lines that a head holds and its file does not have yet, or only the beginning of. */
type Tail = { file: string; segment: number; start: number; lines: string[] };

function* withTail({ file, start, lines }: Tail): Generator<Line> {
  let number = 0;
  if (start > 0) {
    for (const line of linesOf(file, start)) {
      number = line.number;
      yield line;
    }
  }
  for (const text of lines) {
    number += 1;
    yield { bytes: Buffer.from(text, "utf8"), number, complete: true, end: start };
  }
}

function unwrittenTail(folder: string, head: Head | null): Tail | null {
  if (head === null) return null;
  const { segment, start, end } = head;
  const file = segmentFile(folder, segment);
  const size = sizeOf(file);
  const all = Buffer.from(head.lines, "utf8");
  if (size < start || size >= end || all.length !== end - start) return null;
  const written = bytesOf(file, start, size - start);
  if (!all.subarray(0, written.length).equals(written)) return null;
  return { file, segment, start, lines: head.lines.split("\n").slice(0, -1) };
}

function bytesOf(file: string, start: number, length: number): Buffer {
  if (length === 0) return Buffer.alloc(0);
  const descriptor = openRegular(file, constants.O_RDONLY);
  try {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(descriptor, bytes, 0, length, start));
  } finally {
    closeSync(descriptor);
  }
}
