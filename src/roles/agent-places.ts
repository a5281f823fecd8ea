import { existsSync } from "node:fs";
import { dirname, join, resolve } from "node:path";

/** A folder of agent files that are not the plugin's. */
export type AgentPlace = { folder: string; origin: "project" | "user" };

/**
 * Where Claude Code looks for agent files, the one that wins first: `.claude/agents` of the folder that a session
 * was started in and of each one above it, up to the repository's root or below the home folder, then the
 * user's own (host: seen on 2.1.332). None of them has to exist.
 *
 * @param start the folder of the session
 * @param configFolder CLAUDE_CONFIG_DIR, or `.claude` in the home folder
 */
export function agentPlaces(start: string, configFolder: string, home: string | undefined): AgentPlace[] {
  const project = foldersUp(resolve(start), home).map((folder) => join(folder, ".claude", "agents"));
  const user = join(configFolder, "agents");
  return [
    ...project
      .filter((folder) => resolve(folder) !== resolve(user))
      .map((folder): AgentPlace => ({ folder, origin: "project" })),
    { folder: user, origin: "user" },
  ];
}

function foldersUp(start: string, home: string | undefined): string[] {
  const folders = [start];
  for (let at = start; !existsSync(join(at, ".git")); ) {
    const above = dirname(at);
    if (above === at || (home !== undefined && above === resolve(home))) break;
    folders.push(above);
    at = above;
  }
  return folders;
}
