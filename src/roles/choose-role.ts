import { wildcardMatches } from "../guard/tools/wildcard.ts";
import { nearestName } from "../payload/nearest-name.ts";
import { ROLE_TABLE } from "./role-table.generated.js";
import type { RoleRow } from "./role-table.ts";
import { wordsOf } from "./words.ts";

export type RoleCandidate = {
  role: string;
  /** what of the table speaks for it: `stack word "postgres"`, `file pattern *.sql (schema.sql)` */
  why: string[];
};

export type RoleChoice = {
  /** the most signals first, else as in the table; never empty: what matches nothing is the fallback's */
  candidates: RoleCandidate[];
  /** false where the one candidate is the fallback, because nothing matched */
  matched: boolean;
  /** what a person may have meant, or may want to know */
  hint: string | null;
};

type Entry = { row: RoleRow; shown: string; words: string[] };

let known: readonly Entry[] | null = null;

/** Words that the table knows, the longest first, so that `react native` is not taken for `react`. */
function entries(): readonly Entry[] {
  known ??= ROLE_TABLE.flatMap((row) =>
    [...row.words, ...row.also].map((shown) => ({ row, shown, words: wordsOf(shown) })),
  ).sort((one, other) => other.words.length - one.words.length);
  return known;
}

/** A word of fewer letters has no plural for us: `ios` is not many `io`. */
const PLURAL_FROM = 4;
/** `src/x.ts`, `./Makefile` and `C:\x\y` are paths; `ci/cd` and `react/redux` are words. */
const LOOKS_LIKE_PATH = /^(?:~|\.{0,2})[\\/]|^[A-Za-z]:[\\/]|[\\/][^\\/]*\.[^\\/.]+$/;

/**
 * The roles that a text speaks for by the role-selection table: the stack words in it, and the files that it
 * names. A role that only workflows name is never among them.
 */
export function chooseRole(text: string): RoleChoice {
  const found = new Map<RoleRow, Set<string>>();
  const add = (row: RoleRow, why: string) => found.set(row, (found.get(row) ?? new Set()).add(why));

  const [paths, words] = partPaths(text);
  for (const path of paths)
    for (const { row, pattern } of fileRows(path)) add(row, fileReason(pattern, path));
  for (const { row, shown } of words.flatMap(entriesIn)) add(row, `stack word ${JSON.stringify(shown)}`);

  const spawnOnly = [...found.keys()].find((row) => row.spawnOnly === true);
  const candidates = [...found]
    .filter(([row]) => row.spawnOnly !== true)
    .map(([{ role }, why]) => ({ role, why: [...why] }))
    .sort((one, other) => other.why.length - one.why.length);
  const hint = spawnOnly === undefined ? null : `${spawnOnly.role} is spawn-only: words never choose it`;
  if (candidates.length > 0) return { candidates, matched: true, hint };
  return {
    candidates: ROLE_TABLE.filter(({ fallback }) => fallback === true).map(({ role }) => ({
      role,
      why: ["nothing else in the role-selection table matches"],
    })),
    matched: false,
    hint: hint ?? nearWord(text),
  };
}

/** Whether a role works on whatever stack there is; null for a role that the table does not know. */
export function worksOnAnyStack(role: string): boolean | null {
  const row = ROLE_TABLE.find((candidate) => candidate.role === role);
  return row === undefined ? null : row.anyStack === true;
}

/** The pieces of a text that are paths, and the stretches of words between them. */
function partPaths(text: string): [paths: string[], words: string[]] {
  if (isWord(text)) return [[], [text]];
  const paths: string[] = [];
  const stretches: string[][] = [[]];
  for (const piece of text.split(/\s+/)) {
    const bare = piece.replace(/^["'`([{<]+|["'`)\]}>,;:!?]+$|\.+$/g, "");
    if (!isWord(bare) && (LOOKS_LIKE_PATH.test(bare) || fileRows(bare).length > 0)) {
      paths.push(bare);
      stretches.push([]);
    } else stretches.at(-1)?.push(piece);
  }
  return [paths, stretches.map((pieces) => pieces.join(" "))];
}

/** Whether a text is a word of the table, alone or after others (`react/next.js`), and not a known file. */
function isWord(text: string): boolean {
  const last = text.slice(text.lastIndexOf("/") + 1);
  if (last !== text && fileRows(last).some(({ pattern }) => !pattern.startsWith("*."))) return false;
  const words = wordsOf(last).join(" ");
  return entries().some((entry) => entry.words.join(" ") === words);
}

/** The entries that a stretch of words holds; each word counts for the longest entry that it is part of. */
function entriesIn(text: string): Entry[] {
  const words = wordsOf(text);
  const found: Entry[] = [];
  for (let at = 0; at < words.length; ) {
    const best = entriesAt(words, at, (word, known) => word === known);
    const there = best.length > 0 ? best : entriesAt(words, at, isNearly);
    found.push(...there);
    at += there[0]?.words.length ?? 1;
  }
  return found;
}

/** The longest entries that begin at a word. */
function entriesAt(words: readonly string[], at: number, same: (word: string, known: string) => boolean) {
  const fitting = entries().filter((entry) =>
    entry.words.every((known, index) => same(words[at + index] ?? "", known)),
  );
  return fitting.filter((entry) => entry.words.length === fitting[0]?.words.length);
}

/** The same word in the other number (`migrations`), or with its version (`postgres16`). */
function isNearly(word: string, known: string): boolean {
  const bare = /^(\p{L}{2,})\d+$/u.exec(word)?.[1] ?? word;
  if (bare === known) return true;
  return Math.min(bare.length, known.length) >= PLURAL_FROM && (bare === `${known}s` || known === `${bare}s`);
}

type FileRow = { row: RoleRow; pattern: string };

/** The rows whose pattern says most about a path: the one with the most letters, or several of one length. */
function fileRows(path: string): FileRow[] {
  const parts = path.toLowerCase().split(/[\\/]+/);
  const fitting = ROLE_TABLE.flatMap((row) => row.files.map((pattern) => ({ row, pattern }))).filter(
    ({ pattern }) => patternFits(pattern.toLowerCase().split("/"), parts),
  );
  const most = Math.max(...fitting.map(({ pattern }) => letters(pattern)));
  return fitting.filter(({ pattern }) => letters(pattern) === most);
}

/** A pattern of two parts stands anywhere on the way to the file: `migrations/*` is everything below it. */
function patternFits(pattern: readonly string[], path: readonly string[]): boolean {
  const [name = "", ...folders] = [...pattern].reverse();
  if (!wildcardMatches(name, path.at(-1) ?? "")) return false;
  if (folders.length === 0) return true;
  const wanted = folders.reverse();
  const above = path.slice(0, -1);
  return above.some((_, at) => wanted.every((folder, index) => above[at + index] === folder));
}

function letters(pattern: string): number {
  return pattern.replaceAll("*", "").length;
}

function fileReason(pattern: string, path: string): string {
  return `file pattern ${pattern} (${path.split(/[\\/]+/).at(-1)})`;
}

function nearWord(text: string): string | null {
  const choosing = entries().filter(({ row }) => row.spawnOnly !== true);
  const near = nearestName(
    text.trim(),
    choosing.map(({ shown }) => shown),
  );
  return near === null ? null : `did you mean ${near}?`;
}
