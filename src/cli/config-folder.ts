import { homedir } from "node:os";
import { join } from "node:path";

/** The user's folder of Claude Code's settings, agents and memories. */
export function configFolder(environment: Readonly<Record<string, string | undefined>>): string {
  return environment.CLAUDE_CONFIG_DIR || join(environment.HOME || homedir(), ".claude");
}
