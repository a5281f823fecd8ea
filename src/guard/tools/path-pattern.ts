import { unquoted } from "./comma-list.ts";
import type { ToolUse } from "./tool-use.ts";
import { wildcardMatches } from "./wildcard.ts";

/**
 * What stands in `Read(…)` and its like, a glob as in gitignore: a name without a slash is found at any depth;
 * `src/x`, `./src/x` and `/src/x` start at the project's folder, `~/x` at the person's home, `//x` at the root.
 *
 * `segments` holds `**` for any folders, none included. A last segment without a star or `?` also covers what
 * lies below it. Symbolic links are not followed: this code cannot see the disk.
 */
export type PathPattern = { base: "project" | "home" | "root"; segments: string[]; text: string };

/** A name that stands for every name in a folder. No file can have it, so only stars match it. */
const ANY_NAME = "\0";

/** The pattern, or what is wrong with it. */
export function pathPattern(written: string): PathPattern | string {
  const text = unquoted(written.trim());
  if (text === "") return "has an empty path";
  if (/[[\]{}\\!]/.test(text))
    return "has one of [ ] { } \\ !, which are not evaluated in a path; use *, ** and ?";
  const { base, rest, anyDepth } = anchor(text);
  const segments = rest.split("/").filter((segment) => segment !== "" && segment !== ".");
  if (segments.includes("..")) return "has `..` in its path; write the path without it";
  const last = segments.at(-1);
  if (last === "**") segments.splice(-1, 1, "*", "**");
  else if (last === undefined || !/[*?]/.test(last)) segments.push("**");
  else if (rest.endsWith("/")) segments.push("*", "**");
  return { base, segments: anyDepth ? ["**", ...segments] : segments, text };
}

function anchor(text: string): { base: PathPattern["base"]; rest: string; anyDepth: boolean } {
  if (text.startsWith("//")) return { base: "root", rest: text.slice(2), anyDepth: false };
  if (text === "~" || text.startsWith("~/")) return { base: "home", rest: text.slice(2), anyDepth: false };
  const anchored = /^\.?\//.test(text) || text === "." || text.replace(/\/$/, "").includes("/");
  return { base: "project", rest: text, anyDepth: !anchored && !/^\*\*\/?$/.test(text) };
}

/** An absolute path's names with `.` and `..` worked out; null for what is no clear path. */
export function resolvePath(written: string, call: ToolUse): string[] | null {
  const windows = isDrive(call.projectDir);
  const path = windows ? written.replaceAll("\\", "/") : written;
  if (path === "" || path !== path.trim() || /[\p{Cc}\\]/u.test(path)) return null;
  if (path === "~" || path.startsWith("~/")) return absolute(`${call.home}/${path.slice(2)}`, call.home);
  if (path.startsWith("/") || (windows && isDrive(path))) return absolute(path, path);
  return absolute(`${call.cwd}/${path}`, call.cwd);
}

function absolute(path: string, start: string): string[] | null {
  if (!start.startsWith("/") && !isDrive(start)) return null;
  const names: string[] = [];
  for (const name of path.replaceAll("\\", "/").split("/")) {
    if (name === "..") {
      if (names.pop() === undefined) return null;
    } else if (name !== "" && name !== ".") names.push(name);
  }
  return names;
}

function isDrive(path: string): boolean {
  return /^[A-Za-z]:[\\/]/.test(path);
}

/** Whether the pattern allows this file. */
export function pathAllows(pattern: PathPattern, path: readonly string[], call: ToolUse): boolean {
  const names = below(path, folderOf(pattern, call));
  return names !== null && segmentsMatch(pattern.segments, names);
}

/** Whether the pattern allows everything in this folder, as a search tool needs. */
export function folderAllows(pattern: PathPattern, path: readonly string[], call: ToolUse): boolean {
  return pattern.segments.at(-1) === "**" && pathAllows(pattern, [...path, ANY_NAME], call);
}

/**
 * Whether a pattern that takes away takes this path away: as the host reads it, letters large or small alike and
 * a matched folder with all that is in it; a relative pattern counts from the project and from where the agent is.
 */
export function pathBans(pattern: PathPattern, path: readonly string[], call: ToolUse): boolean {
  const segments = [...pattern.segments.map(lowerCase), "**"];
  return banFolders(pattern, call).some((folder) => {
    const names = below(path.map(lowerCase), folder?.map(lowerCase) ?? null);
    return (
      names !== null && (segmentsMatch(segments, names) || segmentsMatch(segments, [...names, ANY_NAME]))
    );
  });
}

/** Whether something that the pattern takes away may lie in this folder. */
export function folderMayHoldBanned(pattern: PathPattern, path: readonly string[], call: ToolUse): boolean {
  const wild = pattern.segments.findIndex((segment) => /[*?]/.test(segment));
  const head = pattern.segments.slice(0, wild === -1 ? undefined : wild).map(lowerCase);
  const root = path.map(lowerCase);
  return banFolders(pattern, call).some((folder) => {
    if (folder === null) return true;
    const banned = [...folder.map(lowerCase), ...head];
    const shorter = Math.min(root.length, banned.length);
    return root.slice(0, shorter).join("/") === banned.slice(0, shorter).join("/");
  });
}

function folderOf(pattern: PathPattern, call: ToolUse): string[] | null {
  if (pattern.base === "root") return [];
  const folder = pattern.base === "home" ? call.home : call.projectDir;
  return absolute(folder, folder);
}

function banFolders(pattern: PathPattern, call: ToolUse): (string[] | null)[] {
  const folder = folderOf(pattern, call);
  return pattern.base === "project" ? [folder, absolute(call.cwd, call.cwd)] : [folder];
}

function below(path: readonly string[], folder: readonly string[] | null): string[] | null {
  if (folder === null || folder.length > path.length) return null;
  return folder.every((name, at) => path[at] === name) ? path.slice(folder.length) : null;
}

/** `**` matches any number of names; time grows with the product of both lengths. */
function segmentsMatch(segments: readonly string[], names: readonly string[]): boolean {
  let inSegments = 0;
  let inNames = 0;
  let star = -1;
  let resume = 0;
  while (inNames < names.length) {
    const segment = segments[inSegments];
    if (segment === "**") {
      star = inSegments;
      resume = inNames;
      inSegments += 1;
    } else if (segment !== undefined && nameMatches(segment, names[inNames] ?? "")) {
      inSegments += 1;
      inNames += 1;
    } else if (star !== -1) {
      inSegments = star + 1;
      resume += 1;
      inNames = resume;
    } else return false;
  }
  return segments.slice(inSegments).every((segment) => segment === "**");
}

function nameMatches(segment: string, name: string): boolean {
  return name === ANY_NAME ? /^\*+$/.test(segment) : wildcardMatches(segment, name, true);
}

/** Whether whatever `inner` allows is certainly allowed by `outer`. */
export function pathCovers(outer: PathPattern, inner: PathPattern): boolean {
  if (outer.base === inner.base && outer.segments.join("/") === inner.segments.join("/")) return true;
  const folder = wholeFolder(outer);
  if (folder === null) return false;
  const everywhere = outer.base === "root" && folder.names.length === 0;
  if (outer.base !== inner.base && !everywhere) return false;
  const rest = inner.segments.slice(folder.names.length);
  const starts = folder.names.every((name, at) => inner.segments[at] === name);
  return starts && (!folder.inside || rest.some((segment) => segment !== "**"));
}

/** The folder that a pattern gives away whole; `inside` when it is only what lies in it. */
function wholeFolder(pattern: PathPattern): { names: string[]; inside: boolean } | null {
  if (pattern.segments.at(-1) !== "**") return null;
  const inside = pattern.segments.at(-2) === "*";
  const names = pattern.segments.slice(0, inside ? -2 : -1);
  return names.some((name) => /[*?]/.test(name)) ? null : { names, inside };
}

function lowerCase(text: string): string {
  return text.toLowerCase();
}
