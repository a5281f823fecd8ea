import { lstatSync, readdirSync, realpathSync } from "node:fs";
import { join, sep } from "node:path";
import { isSourceLabel } from "../payload/source-label.ts";

/** A file of the project or of its memory, and what stands in it. */
export type Source = {
  label: string;
  /** as it is shown: relative to the project, or below `memory/` */
  file: string;
  /** one piece of each group is shown at least; all of memory is one */
  group: string;
  text: string;
};

/** `notes` say what was there and not read, for the person. */
export type FoundSources = { sources: Source[]; notes: string[] };

/** Reads a regular file of bounded size, or throws with the reason. */
export type ReadText = (path: string) => { text: string; replaced: boolean };

export const PROJECT_FILES = ["CLAUDE.md", ".claude/CLAUDE.md", "AGENTS.md"];
export const ARCHITECTURE_FILES = ["ARCHITECTURE.md", "docs/ARCHITECTURE.md"];

/** A memory holds a few; a link to a large folder must not be walked. */
const MOST_MEMORIES = 200;

/** Those of the named files that are in the project: nothing is read that a link leads to outside of it. */
export function readProject(folder: string, files: readonly string[], read: ReadText): FoundSources {
  const found: FoundSources = { sources: [], notes: [] };
  const seen = new Map<string, string>();
  for (const file of files)
    addFile(found, seen, { folder, path: file, file, label: `L2:${file}`, group: file }, read);
  return found;
}

/** The memory that Claude Code keeps for a project: MEMORY.md first, then the others by name. */
export function readMemory(configFolder: string, owner: string, read: ReadText): FoundSources {
  const found: FoundSources = { sources: [], notes: [] };
  const folder = join(configFolder, "projects", memoryName(owner), "memory");
  let names: string[];
  try {
    names = readdirSync(folder).filter((name) => name.endsWith(".md"));
  } catch {
    found.notes.push(`there is no project memory in ${folder}`);
    return found;
  }
  const seen = new Map<string, string>();
  const first = names.filter((name) => name === "MEMORY.md");
  const ordered = [...first, ...names.filter((name) => name !== "MEMORY.md").sort()];
  if (ordered.length > MOST_MEMORIES)
    found.notes.push(`${folder} has ${ordered.length} files; the first ${MOST_MEMORIES} are read`);
  for (const name of ordered.slice(0, MOST_MEMORIES)) {
    const file = `memory/${name}`;
    addFile(found, seen, { folder, path: name, file, label: `L4:${file}`, group: "memory" }, read);
  }
  return found;
}

/** Claude Code's name for a project in its own folder; it adds a checksum to names over 200 characters. */
function memoryName(owner: string): string {
  return realPath(owner).replace(/[^A-Za-z0-9]/g, "-");
}

type Wanted = { folder: string; path: string; file: string; label: string; group: string };

function addFile(
  { sources, notes }: FoundSources,
  seen: Map<string, string>,
  wanted: Wanted,
  read: ReadText,
): void {
  const { folder, path, file, label, group } = wanted;
  const at = join(folder, path);
  if (!isThere(at)) return;
  if (!isSourceLabel(label)) {
    notes.push(`a file of ${folder} has a name that no label can hold; it is not read`);
    return;
  }
  try {
    const real = realpathSync(at);
    if (!real.startsWith(realPath(folder) + sep)) {
      notes.push(`${file} is a link that leads out of ${folder}; it is not followed`);
      return;
    }
    const same = seen.get(real);
    if (same !== undefined) {
      notes.push(`${file} is the same file as ${same}`);
      return;
    }
    seen.set(real, file);
    const { text, replaced } = read(real);
    if (replaced) notes.push(`${file} has bytes that are no UTF-8; each stands as U+FFFD`);
    sources.push({ label, file, group, text });
  } catch (error) {
    notes.push(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

function realPath(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    return path;
  }
}
