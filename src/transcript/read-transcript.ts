import { closeSync, constants, fstatSync, lstatSync, openSync, readSync, type Stats } from "node:fs";
import { basename } from "node:path";
import { codeOf } from "../ledger/files.ts";
import { fingerprint } from "./fingerprint.ts";
import { lineFacts, scanBytes } from "./line-scan.ts";
import { type LineFacts, type LineScan, newLineScan } from "./line-scan-state.ts";
import { newTranscriptState, type TranscriptState } from "./transcript-state.ts";
import { addLine, replayed } from "./usage.ts";

/** Read at once; all the memory that a transcript of any size takes. */
const CHUNK_BYTES = 128 * 1024;
/** Long enough to hold the last line's uuid and time; the ends of the host's lines are all alike. */
const TAIL_BYTES = 1024;
const LINE_FEED = 0x0a;

// A path swapped for a link or a pipe after the check must neither be followed nor block; Windows has neither flag.
const OPEN_FLAGS = constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0) | (constants.O_NONBLOCK ?? 0);

/**
 * Reads what has been added to a subagent's transcript since `state`, in bounded memory whatever the size of the
 * file or of a line (case 107), and returns the state now; the same object when there is nothing new, for the
 * price of one stat. A missing file and what is no regular file leave the state as it is; other system errors are
 * thrown.
 *
 * A file that was replaced (other inode), cut or rewritten in place is read again from the start, and messages
 * that were counted before count nothing again. Of a file named `agent-<id>.jsonl`, lines of other agents count
 * nothing. `onToolUse` is told the id of every tool call on a line that counts, repetitions included: what a hook
 * compares with its own records at the spawn's end (case 63).
 */
export function readTranscript(
  file: string,
  state: TranscriptState,
  onToolUse: (id: string) => void = () => {},
): TranscriptState {
  const found = present(() => lstatSync(file));
  if (!found?.isFile() || (identity(found) === state.file && found.size === state.offset)) return state;
  const descriptor = present(() => openSync(file, OPEN_FLAGS));
  if (descriptor === null) return state;
  try {
    const opened = fstatSync(descriptor);
    if (!opened.isFile()) return state;
    const reading = new Reading(continued(state, descriptor, opened), agentOf(file), onToolUse);
    reading.read(descriptor, opened.size);
    return reading.state;
  } finally {
    closeSync(descriptor);
  }
}

class Reading {
  state: TranscriptState;
  private line: LineScan;

  constructor(
    state: TranscriptState,
    private readonly agent: string | null,
    private readonly onToolUse: (id: string) => void,
  ) {
    this.state = { ...state };
    // The scan changes in place, and the caller's state must not.
    this.line = state.line === null ? newLineScan() : structuredClone(state.line);
  }

  /** Reads on to `size`; what is appended meanwhile is left for the next time. */
  read(descriptor: number, size: number): void {
    const chunk = Buffer.allocUnsafeSlow(Math.min(CHUNK_BYTES, Math.max(size - this.state.offset, 1)));
    let lineBytes = this.state.line === null ? 0 : 1;
    while (this.state.offset < size) {
      const wanted = Math.min(chunk.length, size - this.state.offset);
      const length = readSync(descriptor, chunk, 0, wanted, this.state.offset);
      if (length === 0) break;
      const read = chunk.subarray(0, length);
      for (let at = 0; at < length; ) {
        const found = read.indexOf(LINE_FEED, at);
        const end = found < 0 ? length : found;
        scanBytes(this.line, read, at, end);
        lineBytes += end - at;
        at = end + 1;
        if (found >= 0) {
          if (lineBytes > 0) this.take(lineFacts(this.line));
          this.line = newLineScan();
          lineBytes = 0;
        }
      }
      this.state.offset += length;
    }
    // The last line counts as soon as its object is closed, and once only: a line may be taken again.
    if (this.line.phase === "closed") this.take(lineFacts(this.line));
    this.state.line = lineBytes > 0 ? this.line : null;
    this.state.tail = tailAt(descriptor, this.state.offset);
  }

  private take(facts: LineFacts | null): void {
    if (facts === null) return;
    if (facts.type === "fork-context-ref") this.state.inherited = true;
    else if (facts.type === "user") this.state.inherited = false;
    if (facts.type !== "assistant" || this.state.inherited) return;
    // The host's own words, an API error among them, are no answer of the model.
    if (facts.model === "<synthetic>" || facts.apiError) return;
    if (this.agent !== null && facts.agentId !== null && facts.agentId !== this.agent) return;
    const id = facts.messageId || facts.uuid;
    if (!id) return;
    const { usage, final, toolUses } = facts;
    this.state.meter = addLine(this.state.meter, { id, usage, final, toolUses });
    for (const toolUse of toolUses) this.onToolUse(toolUse);
  }
}

/** The state to read on from: as stored, or at the start of a file that is not the one that was read. */
function continued(state: TranscriptState, descriptor: number, opened: Stats): TranscriptState {
  const file = identity(opened);
  if (state.file === null) return { ...state, file };
  // Of a file that was cut there are fewer bytes before the offset, so its tail is another one too.
  const same = state.file === file && tailAt(descriptor, state.offset) === state.tail;
  return same ? state : { ...newTranscriptState(0), meter: replayed(state.meter), file };
}

function tailAt(descriptor: number, offset: number): string {
  const length = Math.min(TAIL_BYTES, offset);
  const tail = Buffer.alloc(length);
  const read = readSync(descriptor, tail, 0, length, offset - length);
  return fingerprint(tail.toString("latin1", 0, read));
}

function identity(stats: Stats): string {
  return `${stats.dev}:${stats.ino}`;
}

function agentOf(file: string): string | null {
  return /^agent-(.+)\.jsonl$/.exec(basename(file))?.[1] ?? null;
}

/** What a look at a path gives, or null when nothing is there that may be read. */
function present<T>(look: () => T): T | null {
  try {
    return look();
  } catch (error) {
    const code = codeOf(error);
    if (code === "ENOENT" || code === "ENOTDIR" || code === "ELOOP" || code === "ENXIO") return null;
    throw error;
  }
}
