import { type Dirent, readdirSync, realpathSync, statSync } from "node:fs";
import { sep } from "node:path";
import type { AgentFileProblem } from "./role.ts";

/** A link to `/` in somebody's repository must not make a hook walk the disk. */
export const MAX_ENTRIES = 5_000;

export type AgentListing = {
  /** sorted by path */
  files: string[];
  problems: AgentFileProblem[];
  /** false where the folder has more entries than are looked at */
  complete: boolean;
};

/** `real` is null for what has to be looked at first: the folder itself, and links in it. */
type Entry = { path: string; real: string | null; kind: "folder" | "file" | null };

/**
 * The `*.md` files below a folder, sub-folders and symbolic links included, each real file and folder once
 * (case 92); nothing is read from them. A folder that does not exist is empty. Never throws for what is in it.
 */
export function listAgentFiles(dir: string): AgentListing {
  const files = new Map<string, string>();
  const problems: AgentFileProblem[] = [];
  const seen = new Set<string>();
  const open: Entry[] = [{ path: dir, real: null, kind: null }];
  let complete = true;
  for (const [at, { path, ...known }] of open.entries()) {
    const report = (message: string) => problems.push({ file: path, line: 1, severity: "error", message });
    if (at >= MAX_ENTRIES) {
      report(
        `folder ${dir} has more than ${MAX_ENTRIES} entries, the rest is not read; keep only agents there`,
      );
      complete = false;
      break;
    }
    try {
      const { real, kind } = known.real === null ? lookAt(path) : { real: known.real, kind: known.kind };
      if (kind === "folder") {
        if (seen.has(real)) continue;
        seen.add(real);
        for (const entry of entriesOf(path, real)) open.push(entry);
      } else if (kind === "file" && path.endsWith(".md")) {
        const before = files.get(real);
        if (before === undefined || path < before) files.set(real, path);
      } else if (path === dir) {
        report("this is no folder; agents are *.md files in a folder");
      }
    } catch (error) {
      const nothingThere = path === dir && isNotFound(error);
      if (!nothingThere && (path === dir || path.endsWith(".md")))
        report(`cannot be read: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { files: [...files.values()].sort(), problems, complete };
}

function entriesOf(path: string, real: string): Entry[] {
  return readdirSync(path, { withFileTypes: true })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .map((entry) => ({
      path: path + sep + entry.name,
      real: entry.isSymbolicLink() ? null : real + sep + entry.name,
      kind: kindOf(entry),
    }));
}

function lookAt(path: string): { real: string; kind: Entry["kind"] } {
  const stats = statSync(path);
  return { real: realpathSync(path), kind: kindOf(stats) };
}

/** Only regular files: opening a named pipe would wait for ever. */
function kindOf(entry: Pick<Dirent, "isFile" | "isDirectory">): Entry["kind"] {
  if (entry.isDirectory()) return "folder";
  return entry.isFile() ? "file" : null;
}

function isNotFound(error: unknown): boolean {
  return error instanceof Error && "code" in error && error.code === "ENOENT";
}
