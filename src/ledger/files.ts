import {
  closeSync,
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";

/** A temporary file of this age belongs to a process that was killed; a write takes milliseconds. */
const STALE_TEMPORARY_MS = 60_000;
const LONGEST_KEY = 200;

/** The `code` of a system error, such as ENOENT. */
export function codeOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** What the system says where there is no file of a name: nothing, a folder, a link that leads nowhere. */
const NO_FILE: ReadonlySet<string | undefined> = new Set(["ENOENT", "ENOTDIR", "EISDIR", "ELOOP"]);

/** Far above any ledger or settings file, far below what would make a hook miss its deadline. */
const MAX_READ_BYTES = 16_777_216;

/** A file's text, or null when there is no regular file of that name. Throws RangeError for one over 16 MiB. */
export function readIfPresent(file: string): string | null {
  return bytesIfPresent(file)?.toString("utf8") ?? null;
}

/** As `readIfPresent`, for what is no text. */
export function bytesIfPresent(file: string): Buffer | null {
  let descriptor: number | null = null;
  try {
    // Most files that are looked for are not there, and an exception costs a hook more than a look.
    const stats = statSync(file, { throwIfNoEntry: false });
    if (!stats?.isFile()) return null;
    if (stats.size > MAX_READ_BYTES) {
      throw new RangeError(`${file} has ${stats.size} bytes; at most ${MAX_READ_BYTES} are read`);
    }
    descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    return readFileSync(descriptor);
  } catch (error) {
    if (NO_FILE.has(codeOf(error))) return null;
    throw error;
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

/** The names in a folder; none when there is no folder of that name. */
export function namesIn(folder: string): string[] {
  if (!existsSync(folder)) return [];
  try {
    return readdirSync(folder);
  } catch (error) {
    if (NO_FILE.has(codeOf(error))) return [];
    throw error;
  }
}

/**
 * Creates a file with its whole text in one step, or answers false when somebody else was first. Others see all of
 * it or nothing, and a process killed here leaves at most a temporary file. Makes the folder when it is missing.
 */
export function linkNew(folder: string, name: string, text: string): boolean {
  const temporary = join(folder, `tmp-${process.pid}-${Math.random().toString(36).slice(2)}`);
  const options = { mode: 0o600, flag: "wx" };
  try {
    writeFileSync(temporary, text, options);
  } catch (error) {
    if (codeOf(error) !== "ENOENT") throw error;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    writeFileSync(temporary, text, options);
  }
  try {
    linkSync(temporary, join(folder, name));
    return true;
  } catch (error) {
    // ENOENT: another process took the temporary file for one that a killed process left.
    if (codeOf(error) === "EEXIST" || codeOf(error) === "ENOENT") return false;
    throw error;
  } finally {
    remove(temporary);
  }
}

/** Renames a file out of the way; false when somebody else did it first or the new name cannot be had. */
export function moveAside(from: string, to: string): boolean {
  try {
    renameSync(from, to);
    return true;
  } catch {
    return false;
  }
}

/** Removes what a killed process left in a folder; `name` is one of its names. */
export function sweepTemporary(folder: string, name: string): void {
  if (!name.startsWith("tmp-")) return;
  const file = join(folder, name);
  const written = statSync(file, { throwIfNoEntry: false })?.mtimeMs;
  if (written !== undefined && Date.now() - written > STALE_TEMPORARY_MS) remove(file);
}

/** Removes a file as far as possible. */
export function remove(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // Somebody else removed it, or has it open (Windows): it is garbage that the next change tries again.
  }
}

/**
 * A name for a file or folder made from an id that came from outside: letters, digits, `-` and `_` stand, every
 * other byte is written %XX (half a surrogate pair, which has no bytes, %uXXXX), so no id leaves its folder and no
 * two ids meet. Throws RangeError for an empty id
 * or one whose name would have more than 200 characters.
 */
export function fileKey(id: string): string {
  const key = id.replace(/[^A-Za-z0-9_-]/gu, (character) =>
    /\p{Surrogate}/u.test(character)
      ? `%u${character.charCodeAt(0).toString(16)}`
      : [...Buffer.from(character, "utf8")].map((byte) => `%${byte.toString(16).padStart(2, "0")}`).join(""),
  );
  if (key === "" || key.length > LONGEST_KEY) {
    throw new RangeError(
      `the id ${JSON.stringify(id.slice(0, 60))} has ${id.length} characters; 1 to ${LONGEST_KEY} are needed`,
    );
  }
  return key;
}

/** The id that `fileKey` made a name from; null for a name that it makes from none. */
export function idOfKey(key: string): string | null {
  try {
    const id = key
      .split(/(%u[0-9a-f]{4})/)
      .map((part) =>
        part.startsWith("%u")
          ? String.fromCharCode(Number.parseInt(part.slice(2), 16))
          : decodeURIComponent(part),
      )
      .join("");
    return fileKey(id) === key ? id : null;
  } catch {
    return null;
  }
}
