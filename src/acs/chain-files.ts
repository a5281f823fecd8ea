import { closeSync, constants, fstatSync, lstatSync, openSync, readSync } from "node:fs";
import { join } from "node:path";
import { codeOf, namesIn } from "../ledger/files.ts";
import { hasShape, isText } from "../ledger/shape.ts";

const SEGMENT = /^[0-9]{6,}\.jsonl$/;
const CHUNK_BYTES = 65_536;
/** No receipt comes near it: every part of one is cut (receipts.ts), to less than half of this at the worst. */
export const MAX_LINE_BYTES = 262_144;

export function segmentName(segment: number): string {
  return `${String(segment).padStart(6, "0")}.jsonl`;
}

export function segmentFile(folder: string, segment: number): string {
  return join(folder, segmentName(segment));
}

/** The segments of a chain by number, in order. */
export function segmentsOf(folder: string): { file: string; segment: number }[] {
  return namesIn(folder)
    .filter((name) => SEGMENT.test(name))
    .map((name) => ({ file: join(folder, name), segment: Number.parseInt(name, 10) }))
    .sort((a, b) => a.segment - b.segment);
}

/** Throws where one of the folders that lead to a chain is a symbolic link: what it leads to is nobody's word. */
export function refuseLinks(...folders: string[]): void {
  for (const folder of folders) {
    if (lstatSync(folder, { throwIfNoEntry: false })?.isSymbolicLink() === true) throw isNoFile(folder);
  }
}

/** Opens a regular file, never through a symbolic link as its last part. Throws what the file system throws. */
export function openRegular(file: string, flags: number): number {
  let descriptor: number;
  try {
    descriptor = openSync(file, flags | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0), 0o600);
  } catch (error) {
    throw codeOf(error) === "ELOOP" || codeOf(error) === "EISDIR" ? isNoFile(file) : error;
  }
  if (fstatSync(descriptor).isFile()) return descriptor;
  closeSync(descriptor);
  throw isNoFile(file);
}

function isNoFile(path: string): Error {
  return new Error(`${path} is a link or no file of its own, and an audit chain follows none: remove it`);
}

/** A segment's size in bytes; 0 when there is none. */
export function sizeOf(file: string): number {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats === undefined) return 0;
  if (!stats.isFile()) throw isNoFile(file);
  return stats.size;
}

/** `complete` is false for a last line without its end, and for one of more than MAX_LINE_BYTES. */
export type Line = { bytes: Buffer; number: number; complete: boolean; end: number };

/** A file's lines as they stand in its first `until` bytes; ends at one that is not complete. */
export function* linesOf(file: string, until = Number.POSITIVE_INFINITY): Generator<Line> {
  const descriptor = openRegular(file, constants.O_RDONLY);
  try {
    let rest = Buffer.alloc(0);
    let number = 0;
    let end = 0;
    const chunk = Buffer.alloc(CHUNK_BYTES);
    for (let count = 1; count > 0 && rest.length <= MAX_LINE_BYTES; ) {
      const wanted = Math.min(CHUNK_BYTES, until - end - rest.length);
      count = wanted === 0 ? 0 : readSync(descriptor, chunk, 0, wanted, end + rest.length);
      rest = Buffer.concat([rest, chunk.subarray(0, count)]);
      for (let cut = rest.indexOf(10); cut >= 0; cut = rest.indexOf(10)) {
        end += cut + 1;
        number += 1;
        yield { bytes: rest.subarray(0, cut), number, complete: cut <= MAX_LINE_BYTES, end };
        rest = rest.subarray(cut + 1);
      }
    }
    if (rest.length > 0) yield { bytes: rest, number: number + 1, complete: false, end: end + rest.length };
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
  /** ids of all entries, oldest first */
  ids: string[];
};

/** Where a chain's files end, when its head is lost; null when they hold nothing. Looks at every line. */
export function readChainEnd(folder: string): FoundEnd | null {
  let found: FoundEnd | null = null;
  const ids: string[] = [];
  for (const { file, segment } of segmentsOf(folder)) {
    for (const { bytes, complete, end } of linesOf(file)) {
      const receipt = complete ? parseEnd(bytes.toString("utf8")) : null;
      if (receipt === null) continue;
      const { entry_id, entry_hash } = receipt.entry;
      ids.push(entry_id);
      found = {
        count: ids.length,
        entry: entry_hash,
        line: receipt.line_hash,
        segment,
        start: end,
        end,
        ids,
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
