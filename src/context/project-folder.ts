import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/**
 * The project that a folder belongs to: the nearest folder from it upwards, below the home folder, that holds one of
 * the marks or is a repository's root; else the folder itself.
 *
 * @param marks paths of files in a project
 */
export function projectFolder(cwd: string, home: string | undefined, marks: readonly string[]): string {
  const isProject = (folder: string) => [".git", ...marks].some((mark) => existsSync(join(folder, mark)));
  return findUp(resolve(cwd), home, isProject) ?? resolve(cwd);
}

/**
 * The folder that Claude Code keeps a project's memory for (host: seen on 2.1.332): the repository's root, for a
 * worktree that of its repository, else the folder of the session.
 */
export function memoryOwner(cwd: string, home: string | undefined): string {
  const root = findUp(resolve(cwd), home, (folder) => existsSync(join(folder, ".git")));
  if (root === null) return resolve(cwd);
  const git = join(root, ".git");
  if (!statSync(git).isFile()) return root;
  const [, main] = /^gitdir: (.*)\/\.git\/worktrees\/[^/]+\s*$/.exec(readFileSync(git, "utf8")) ?? [];
  return main ?? root;
}

function findUp(start: string, home: string | undefined, found: (folder: string) => boolean): string | null {
  for (let at = start; ; at = dirname(at)) {
    if (found(at)) return at;
    const above = dirname(at);
    if (above === at || (home !== undefined && above === resolve(home))) return null;
  }
}
