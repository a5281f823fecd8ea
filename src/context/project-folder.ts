import { existsSync, readFileSync, statSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/**
 * The project that a folder belongs to: in a repository the nearest folder upwards that holds one of the marks, at most
 * the repository's root; outside of one the folder itself, since what lies above may be anybody's.
 *
 * @param marks paths of files in a project
 */
export function projectFolder(cwd: string, home: string, marks: readonly string[]): string {
  const start = resolve(cwd);
  const root = repositoryRoot(start, home);
  const isProject = (folder: string) =>
    folder === root || marks.some((mark) => existsSync(join(folder, mark)));
  return root === null ? start : (findUp(start, home, isProject) ?? root);
}

/**
 * The folder that Claude Code keeps a project's memory for (host: seen on 2.1.332): the repository's root, for a
 * worktree that of its repository, else the folder of the session.
 */
export function memoryOwner(cwd: string, home: string): string {
  const root = repositoryRoot(resolve(cwd), home);
  if (root === null) return resolve(cwd);
  const git = join(root, ".git");
  if (!statSync(git).isFile()) return root;
  const [, main] = /^gitdir: (.*)\/\.git\/worktrees\/[^/]+\s*$/.exec(readFileSync(git, "utf8")) ?? [];
  return main ?? root;
}

function repositoryRoot(start: string, home: string): string | null {
  return findUp(start, home, (folder) => existsSync(join(folder, ".git")));
}

function findUp(start: string, home: string, found: (folder: string) => boolean): string | null {
  for (let at = start; ; at = dirname(at)) {
    if (found(at)) return at;
    const above = dirname(at);
    if (above === at || above === resolve(home)) return null;
  }
}
