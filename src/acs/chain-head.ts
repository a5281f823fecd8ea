import { join } from "node:path";
import { Cell } from "../ledger/cell.ts";
import { hasShape, isCount, isText, isTextOrNull, isTexts } from "../ledger/shape.ts";

/** Steps that a chain's end remembers, so that an event that comes twice is recorded once (case 56). */
const RECENT = 256;
/** Enough of a step's id to tell it from as many others: 60 random bits. */
const MARK_LENGTH = 18;

/**
 * The end of a chain and, as a redo log, the lines that the last append added: whoever appends next writes them
 * again if whoever added them was killed before they were in the file.
 */
export type Head = {
  count: number;
  entry: string | null;
  line: string | null;
  segment: number;
  /** byte offsets in the segment: where `lines` begin and end */
  start: number;
  end: number;
  lines: string;
  /** marks of the latest steps, newest last */
  recent: string[];
  /** milliseconds of Date.now() */
  at: number;
};

export const EMPTY_HEAD: Head = {
  count: 0,
  entry: null,
  line: null,
  segment: 1,
  start: 0,
  end: 0,
  lines: "",
  recent: [],
  at: 0,
};

/** A chain's head; `damaged` is told of versions that are set aside. */
export function headCell(folder: string, damaged?: (file: string) => void): Cell<Head> {
  return new Cell(join(folder, "head"), (raw) => (isHead(raw) ? raw : null), damaged);
}

/** Whether a head knows that its chain holds the step of this id. */
export function remembers({ recent }: Head, id: string): boolean {
  return recent.includes(id.slice(0, MARK_LENGTH));
}

/** What a head remembers after steps of these ids. */
export function marks(recent: readonly string[], ids: readonly string[]): string[] {
  return [...recent, ...ids.slice(-RECENT).map((id) => id.slice(0, MARK_LENGTH))].slice(-RECENT);
}

const HEAD: Record<keyof Head, (value: unknown) => boolean> = {
  count: isCount,
  entry: isTextOrNull,
  line: isTextOrNull,
  segment: isCount,
  start: isCount,
  end: isCount,
  lines: isText,
  recent: isTexts,
  at: isCount,
};

function isHead(raw: unknown): raw is Head {
  return hasShape(raw, HEAD);
}
