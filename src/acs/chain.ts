import { closeSync, constants, fsyncSync, mkdirSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Cell } from "../ledger/cell.ts";
import { codeOf } from "../ledger/files.ts";
import {
  MAX_LINE_BYTES,
  openRegular,
  readChainEnd,
  refuseLinks,
  segmentFile,
  sizeOf,
} from "./chain-files.ts";
import { EMPTY_HEAD, type Head, headCell, marks, remembers } from "./chain-head.ts";
import type { Step } from "./envelope.ts";
import { type ChainEnd, seal } from "./seal.ts";
import type { Signer } from "./signer.ts";

/** A full segment is followed by the next one, whose first line carries its last hash on (case 124). */
const MAX_SEGMENT_BYTES = 8 * 1024 * 1024;
/** A line that is missing for longer was not written by anybody who is still at it (milliseconds). */
const WRITE_TAKES_MS = 2_000;

export type ChainOptions = {
  signer: Signer | null;
  /** milliseconds of Date.now() after which an append gives up with LedgerBusy */
  deadline: number;
  /** a segment of so many bytes is full; MAX_SEGMENT_BYTES unless a test wants many small ones */
  segmentBytes?: number;
};

/** What an append has come to: the chain's end, and the steps that it did not hold before. */
export type Appended = { head: Head; added: readonly Step[] };

/** One try to claim the next place: what would be added, the open file to write it to, and what had to be mended. */
type Claim = { added: readonly Step[]; file: number | null; mended: string[] };

/**
 * One session's chain of receipts on disk: segments of lines, and a head that holds count and last hashes.
 *
 * Appending is two steps: a new version of the head claims the next place, with the lines in it (`Cell`: of any number
 * of processes one wins, the others try again after it), then the lines are written at the offset that the head names,
 * and synced. There is no lock to be left behind. A process that wakes late writes the very bytes that stand there.
 */
export class Chain {
  /** what the person has to know of the files: what was mended, what could not be written */
  readonly notes: string[] = [];
  private readonly head: Cell<Head>;

  constructor(
    readonly folder: string,
    private readonly options: ChainOptions,
  ) {
    this.head = headCell(folder, (file) => this.notes.push(`${file} was damaged and is set aside`));
  }

  /**
   * Appends steps, in order, as one; steps that the chain holds already are left out. The first receipt of a chain is
   * `root`. Throws LedgerBusy, and what the file system throws.
   *
   * What the head has claimed is recorded: where its lines cannot be written after that (a full disk), the next append
   * writes them or fails.
   */
  append(steps: readonly Step[], root: () => Step): Appended {
    const session = dirname(this.folder);
    refuseLinks(dirname(session), session, this.folder, join(this.folder, "head"));
    const claim: Claim = { added: [], file: null, mended: [] };
    try {
      const head = this.head.update(
        (value, lost) => this.claim(claim, value, lost, steps, root),
        this.options.deadline,
      );
      if (head === null) return { head: EMPTY_HEAD, added: [] };
      if (claim.file !== null) this.write(claim.file, head, claim.mended);
      return { head, added: claim.added };
    } finally {
      close(claim);
      this.notes.push(...claim.mended);
    }
  }

  /** The chain's next end, or null when there is nothing to add. */
  private claim(
    claim: Claim,
    value: Head | null,
    lost: boolean,
    steps: readonly Step[],
    root: () => Step,
  ): Head | null {
    close(claim);
    claim.mended = [];
    const current = this.sound(value, lost, claim.mended);
    const fresh = steps.filter(({ request }) => !remembers(current, request.id));
    claim.added = current.count === 0 ? [root(), ...fresh] : fresh;
    if (claim.added.length === 0) return null;
    const next = this.follow(current, claim.added);
    // What cannot be opened has to be known before the place is claimed.
    claim.file = this.open(next);
    return next;
  }

  private follow(current: Head, steps: readonly Step[]): Head {
    const moves = current.end >= (this.options.segmentBytes ?? MAX_SEGMENT_BYTES);
    const start = moves ? 0 : current.end;
    let end: ChainEnd = { entry: current.entry, line: current.line };
    let lines = current.start === current.end ? current.lines : "";
    for (const step of steps) {
      const sealed = seal(step, end, this.options.signer);
      if (Buffer.byteLength(sealed.line, "utf8") > MAX_LINE_BYTES) {
        throw new RangeError(`a receipt would have more than ${MAX_LINE_BYTES} bytes`);
      }
      lines += `${sealed.line}\n`;
      end = sealed.end;
    }
    return {
      ...end,
      count: current.count + steps.length,
      segment: moves ? current.segment + 1 : current.segment,
      start,
      end: start + Buffer.byteLength(lines, "utf8"),
      lines,
      recent: marks(
        current.recent,
        steps.map(({ request }) => request.id),
      ),
      at: Date.now(),
    };
  }

  /** The head to go on from, with all that it claims in the file; what had to be mended is added to `mended`. */
  private sound(value: Head | null, lost: boolean, mended: string[]): Head {
    let head = value === null || lost ? this.found(value, mended) : value;
    if (this.isBehind(head)) {
      // Others have appended since this version was read: what is made from it will not be committed.
      if ((this.head.read().value?.count ?? 0) > head.count) return head;
      // A power cut: the files are synced and the head is not.
      const further = this.fromFiles(head);
      if (further !== null) {
        const more = further.count - head.count;
        mended.push(
          `${this.folder}: ${more} entries stand in the files and not in the head; they are taken in`,
        );
        head = further;
      }
      if (this.isBehind(head)) {
        mended.push(`${this.file(head)} is followed by what is no receipt; the chain goes on in a new file`);
        return this.inNewFile({ ...head, lines: "" });
      }
    }
    const file = this.file(head);
    const size = sizeOf(file);
    if (size === head.end) return head;
    if (size < head.start) {
      mended.push(
        `${file} has ${size} bytes where the head says ${head.end}: its tail is lost, and the chain goes on in a new file`,
      );
      return this.inNewFile(head);
    }
    if (Date.now() - head.at > WRITE_TAKES_MS)
      mended.push(`${file}: the last lines were torn or missing, and are written again`);
    this.rewrite(head);
    return head;
  }

  /** Whether the files hold more than the head knows of. */
  private isBehind(head: Head): boolean {
    return sizeOf(this.file(head)) > head.end || sizeOf(segmentFile(this.folder, head.segment + 1)) > 0;
  }

  /** The head at the start of the next file that has nothing in it; its lines are then still to be written there. */
  private inNewFile(head: Head): Head {
    let segment = head.segment + 1;
    while (sizeOf(segmentFile(this.folder, segment)) > 0) segment += 1;
    return { ...head, segment, start: 0, end: 0 };
  }

  /** The head was removed or damaged: the chain goes on from what its files hold, where that is more. */
  private found(value: Head | null, mended: string[]): Head {
    const found = this.fromFiles(value ?? EMPTY_HEAD);
    if (found === null) return value ?? EMPTY_HEAD;
    mended.push(`${this.folder}: the head was lost; the chain goes on from its ${found.count} entries`);
    return found;
  }

  /** The end that the files have, where it is further than `head`. */
  private fromFiles({ count }: Head): Head | null {
    const found = readChainEnd(this.folder);
    if (found === null || found.count <= count) return null;
    const { ids, ...end } = found;
    return { ...EMPTY_HEAD, ...end, recent: marks([], ids) };
  }

  private rewrite(head: Head): void {
    const file = this.open(head);
    try {
      writeLines(file, head);
    } finally {
      closeSync(file);
    }
  }

  private write(file: number, head: Head, mended: string[]): void {
    try {
      writeLines(file, head);
    } catch (error) {
      const why = error instanceof Error ? error.message : String(error);
      mended.push(
        `${this.file(head)} cannot be written (${why}); until it can, the head holds its last lines`,
      );
    }
  }

  private open(head: Head): number {
    const flags = constants.O_WRONLY | constants.O_CREAT;
    try {
      return openRegular(this.file(head), flags);
    } catch (error) {
      if (codeOf(error) !== "ENOENT") throw error;
      mkdirSync(this.folder, { recursive: true, mode: 0o700 });
      return openRegular(this.file(head), flags);
    }
  }

  private file({ segment }: Head): string {
    return segmentFile(this.folder, segment);
  }
}

function writeLines(file: number, { start, lines }: Head): void {
  const bytes = Buffer.from(lines, "utf8");
  for (let written = 0; written < bytes.length; ) {
    written += writeSync(file, bytes, written, bytes.length - written, start + written);
  }
  fsyncSync(file);
}

function close(claim: Claim): void {
  if (claim.file !== null) closeSync(claim.file);
  claim.file = null;
}
