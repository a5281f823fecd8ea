import { join } from "node:path";
import { checksum } from "./checksum.ts";
import { linkNew, moveAside, namesIn, readIfPresent, remove, sweepTemporary } from "./files.ts";
import { pause } from "./pause.ts";
import { isJson, isTexts } from "./shape.ts";

/** How many old versions a cell keeps; see `Cell` for why the number is no matter of correctness. */
const KEPT = 4;
/** How many of the latest changes a version names, so that a slow process can see whether its own is among them. */
const MARKS = 16;

/** The deadline passed before a change could be committed: other processes kept committing first. */
export class LedgerBusy extends Error {}

export type Reading<T> = { value: T | null; lost: boolean };

export type Decoder<T> = (raw: unknown) => T | null;

/**
 * One value on disk that any number of processes change at once, without a lock.
 *
 * A cell is a folder of numbered versions. A change reads version n, writes its successor to a temporary file
 * and hard-links that as n + 1: the link fails if somebody else was first, and then the change is made again on
 * what they wrote. A process killed at any point has either committed or not; nothing is left to take over.
 *
 * Old versions are deleted and damaged ones renamed, so a process that slept could link a number that was used
 * before. It notices, because the newest version is then at least KEPT ahead or a damaged one has its number, and
 * looks whether the newest names its change among the latest; if not, it makes the change again. A reader that slept
 * could read what stands under such a number meanwhile: it looks once more how far the newest is, and reads again.
 *
 * Each version carries a checksum. A damaged one is renamed to *.damaged and never read again; until the next
 * change, readers are told that something was lost.
 */
export class Cell<T> {
  /** The latest version that this process has read; a version never changes. */
  private known: { version: number; value: T; marks: readonly string[] } | null = null;

  constructor(
    readonly folder: string,
    private readonly decode: Decoder<T>,
    private readonly damaged: (file: string) => void = () => {},
  ) {}

  /** The newest sound value, or null when there is none; `lost` when something newer than it was damaged. */
  read(): Reading<T> {
    const { value, lost } = this.newest();
    return { value, lost };
  }

  /**
   * Replaces the value by `change(value, lost)` and returns the value now in force. `change` may run several
   * times and returns null to leave things as they are.
   *
   * `deadline` is in milliseconds of Date.now(); throws LedgerBusy after it.
   */
  update(change: (value: T | null, lost: boolean) => T | null, deadline: number): T | null {
    for (let attempt = 0; ; attempt++) {
      const current = this.newest();
      const next = change(current.value, current.lost);
      if (next === null) return current.value;
      if (this.commit(current.highest + 1, next, current.marks)) return next;
      if (Date.now() > deadline)
        throw new LedgerBusy(`${this.folder}: not committed after ${attempt + 1} tries`);
      pause(Math.random() * Math.min(2 ** attempt, 16));
    }
  }

  private newest(): Reading<T> & { highest: number; marks: readonly string[] } {
    const gone = new Set<number>();
    for (;;) {
      const { intact, damaged } = this.versions();
      let broken = damaged[0] ?? 0;
      let vanished = false;
      for (const version of intact) {
        if (this.known?.version === version) {
          return { ...this.known, lost: broken >= version, highest: Math.max(broken, version) };
        }
        const text = readIfPresent(this.file(version));
        // A version listed and then gone means that others committed in between: look again, once.
        if (text === null && !gone.has(version)) {
          gone.add(version);
          vanished = true;
          break;
        }
        const found = text === null ? null : this.parse(text);
        if (found !== null) {
          // Deleted since it was listed, its number can have been a sleeper's for a moment, whose change never counted.
          if ((this.versions().intact[0] ?? 0) >= version + KEPT) {
            vanished = true;
            break;
          }
          this.known = { ...found, version };
          return { ...found, lost: broken >= version, highest: Math.max(broken, version) };
        }
        this.setAside(version);
        broken = Math.max(broken, version);
      }
      if (!vanished) return { value: null, marks: [], lost: broken > 0, highest: broken };
    }
  }

  private parse(text: string): { value: T; marks: readonly string[] } | null {
    const cut = text.indexOf(" ");
    if (cut < 0 || checksum(text.slice(cut + 1)) !== text.slice(0, cut)) return null;
    try {
      const raw: unknown = JSON.parse(text.slice(cut + 1));
      if (!isJson(raw) || !isTexts(raw.marks)) return null;
      const value = this.decode(raw.value);
      return value === null ? null : { value, marks: raw.marks };
    } catch {
      return null;
    }
  }

  private commit(version: number, value: T, before: readonly string[]): boolean {
    if (!Number.isSafeInteger(version)) throw new Error(`${this.folder}: no version can follow the last one`);
    const mark = Math.random().toString(36).slice(2, 10);
    const body = JSON.stringify({ marks: [...before, mark].slice(-MARKS), value });
    if (!linkNew(this.folder, `${version}.json`, `${checksum(body)} ${body}`)) return false;
    const { intact, damaged } = this.versions();
    for (const old of intact) if (old <= version - KEPT) remove(this.file(old));
    const isFirst = (damaged[0] ?? 0) < version;
    if (isFirst && ((intact[0] ?? 0) < version + KEPT || this.newest().marks.includes(mark))) return true;
    remove(this.file(version));
    return false;
  }

  /** Version numbers, newest first; `intact` are those that have not been found damaged. */
  private versions(): { intact: number[]; damaged: number[] } {
    const intact: number[] = [];
    const damaged: number[] = [];
    for (const name of namesIn(this.folder)) {
      const [, digits, ending] = /^([1-9][0-9]*)\.json(\.damaged)?$/.exec(name) ?? [];
      const version = Number(digits);
      if (!Number.isSafeInteger(version)) sweepTemporary(this.folder, name);
      else (ending === undefined ? intact : damaged).push(version);
    }
    const newestFirst = (a: number, b: number) => b - a;
    return { intact: intact.sort(newestFirst), damaged: damaged.sort(newestFirst) };
  }

  private setAside(version: number): void {
    const file = this.file(version);
    if (moveAside(file, `${file}.damaged`)) this.damaged(file);
  }

  private file(version: number): string {
    return join(this.folder, `${version}.json`);
  }
}
