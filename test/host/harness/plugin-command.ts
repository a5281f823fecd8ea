import { execFileSync } from "node:child_process";
import { dirname } from "node:path";
import { claudeProgram } from "./claude-program.ts";

/** Runs `claude plugin …` with a home of its own; gives what it printed. Throws when it fails. */
export function pluginCommand(home: string, ...args: string[]): string {
  return execFileSync(claudeProgram(), ["plugin", ...args], {
    encoding: "utf8",
    timeout: 60_000,
    env: {
      PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
      HOME: home,
      CLAUDE_CONFIG_DIR: `${home}/.claude`,
      DISABLE_AUTOUPDATER: "1",
      DISABLE_TELEMETRY: "1",
      DISABLE_ERROR_REPORTING: "1",
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    },
  });
}
