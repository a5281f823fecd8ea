import { closeSync, constants, fstatSync, fsyncSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import { Cell } from "../ledger/cell.ts";
import { hasShape, isCount, isText, isTextOrNull, isTexts } from "../ledger/shape.ts";
import { readChainEnd, segmentName } from "./chain-files.ts";
import type { Step } from "./envelope.ts";
import { canonical, seal } from "./seal.ts";
import type { Signer } from "./signer.ts";

/** A full segment is followed by the next one, whose first line carries its last hash on (case 124). */
const MAX_SEGMENT_BYTES = 8 * 1024 * 1024;
/** Steps that a chain's end remembers, so that an event that comes twice is recorded once. */
const RECENT = 64;
/** A line that is missing for longer was not written by anybody who is still at it (milliseconds). */
const WRITE_TAKES_MS = 2_000;

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
  recent: string[];
  /** milliseconds since the epoch */
  at: number;
};

const EMPTY: Head = {
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

export type ChainOptions = {
  signer: Signer | null;
  /** milliseconds of Date.now() after which an append gives up with LedgerBusy */
  deadline: number;
  now: number;
};

/**
 * One session's chain of receipts on disk: segments of lines, and a head that holds count and last hashes.
 *
 * Appending is two steps: a new version of the head claims the next place, with the lines in it (`Cell`: of any number
 * of processes one wins, the others try again after it), then the lines are written at the offset that the head names,
 * and synced. There is no lock to be left behind. A process that wakes late writes the very bytes that stand there.
 */
export class Chain {
  /** what was found wrong with the file, for the person to be told */
  readonly repairs: string[] = [];
  private readonly head: Cell<Head>;

  constructor(
    readonly folder: string,
    private readonly options: ChainOptions,
  ) {
    this.head = headCell(folder, (file) => this.repairs.push(`${file} was damaged and is set aside`));
  }

  /**
   * Appends steps, in order, as one; steps that the chain holds already are left out. The first receipt of a chain is
   * `root`. Returns the chain's end. Throws LedgerBusy, and what the file system throws.
   */
  append(steps: readonly Step[], root: () => Step): Head {
    let claimed = false;
    const head = this.head.update((value, lost) => {
      claimed = false;
      const current = this.sound(value, lost);
      const fresh = steps.filter(({ request }) => !current.recent.includes(request.id));
      const added = current.count === 0 ? [root(), ...fresh] : fresh;
      if (added.length === 0) return null;
      claimed = true;
      return this.follow(current, added);
    }, this.options.deadline);
    if (claimed && head !== null) this.write(head);
    return head ?? EMPTY;
  }

  private follow(current: Head, steps: readonly Step[]): Head {
    const moves = current.end >= MAX_SEGMENT_BYTES;
    const start = moves ? 0 : current.end;
    let end = { entry: current.entry, line: current.line };
    let lines = "";
    for (const step of steps) {
      const receipt = seal(step, end, this.options.signer);
      end = { entry: receipt.entry.entry_hash, line: receipt.line_hash };
      lines += `${canonical(receipt)}\n`;
    }
    return {
      ...end,
      count: current.count + steps.length,
      segment: moves ? current.segment + 1 : current.segment,
      start,
      end: start + Buffer.byteLength(lines, "utf8"),
      lines,
      recent: [...current.recent, ...steps.map(({ request }) => request.id)].slice(-RECENT),
      at: this.options.now,
    };
  }

  /** The head to go on from, with all that it claims in the file. */
  private sound(value: Head | null, lost: boolean): Head {
    if (value === null || lost) {
      const found = readChainEnd(this.folder);
      if (found === null) return value ?? EMPTY;
      if (value === null || found.count > value.count) {
        this.repairs.push(
          `${this.folder}: the head was lost; the chain goes on from its ${found.count} entries`,
        );
        return { ...EMPTY, ...found, recent: found.recent.slice(-RECENT) };
      }
    }
    if (value === null) return EMPTY;
    const size = sizeOf(this.file(value));
    if (size === value.end) return value;
    if (size > value.end) return this.ahead(value);
    if (size < value.start) {
      this.repairs.push(
        `${this.file(value)} has ${size} bytes where the head says ${value.end}: its tail is lost, and the chain goes on in a new file`,
      );
      return { ...value, segment: value.segment + 1, start: 0, end: 0, lines: "" };
    }
    if (size > value.start || this.options.now - value.at > WRITE_TAKES_MS) {
      this.repairs.push(`${this.file(value)}: the last lines were torn or missing, and are written again`);
    }
    this.write(value);
    return value;
  }

  /** The file has more than the head: after a power cut, since the file is synced and the head is not. */
  private ahead(value: Head): Head {
    const found = readChainEnd(this.folder);
    if (found !== null && found.count > value.count) {
      return { ...EMPTY, ...found, recent: [...value.recent, ...found.recent].slice(-RECENT) };
    }
    this.repairs.push(`${this.file(value)} ends with what is no receipt; the chain goes on in a new file`);
    return { ...value, segment: value.segment + 1, start: 0, end: 0, lines: "" };
  }

  private write({ segment, start, lines }: Head): void {
    const flags = constants.O_WRONLY | constants.O_CREAT | (constants.O_NOFOLLOW ?? 0);
    const descriptor = openSync(join(this.folder, segmentName(segment)), flags, 0o600);
    try {
      const bytes = Buffer.from(lines, "utf8");
      for (let written = 0; written < bytes.length; ) {
        written += writeSync(descriptor, bytes, written, bytes.length - written, start + written);
      }
      fsyncSync(descriptor);
    } finally {
      closeSync(descriptor);
    }
  }

  private file({ segment }: Head): string {
    return join(this.folder, segmentName(segment));
  }
}

/** A chain's head; `damaged` is told of versions that are set aside. */
export function headCell(folder: string, damaged?: (file: string) => void): Cell<Head> {
  return new Cell(join(folder, "head"), decodeHead, damaged);
}

function sizeOf(file: string): number {
  let descriptor: number;
  try {
    descriptor = openSync(file, constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
  } catch {
    return 0;
  }
  try {
    return fstatSync(descriptor).size;
  } finally {
    closeSync(descriptor);
  }
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

function decodeHead(raw: unknown): Head | null {
  return isHead(raw) ? raw : null;
}

function isHead(raw: unknown): raw is Head {
  return hasShape(raw, HEAD);
}
