import { resolve } from "node:path";
import { Command } from "commander";
import type { AgentPlace } from "../roles/agent-places.ts";
import { readCommandLine } from "./command-line.ts";
import type { CommandResult } from "./command-result.ts";
import { roleChoice } from "./role-choice.ts";
import { listRoles } from "./role-listing.ts";
import { oneLine, roleAsJson, roleTables } from "./role-tables.ts";

export type RolesIo = {
  pluginRoot: string;
  cwd: string;
  /** the project's and the user's folders of agent files */
  places: readonly AgentPlace[];
};

type Options = { for?: string; agentsDir?: string; json?: true };

/**
 * `spawn-guard roles`: the plugin's roles, Claude Code's own and the agent files of project and user, as tables or
 * as a JSON array. What is wrong in agent files goes to stderr; exit code 1 when one of them cannot be used.
 * With `--for` the roles that a text or a path speaks for, instead.
 *
 * @param argv what follows `roles`
 */
export function runRoles(argv: readonly string[], io: RolesIo): CommandResult {
  const command = new Command("spawn-guard roles")
    .description("Lists roles and agents with their default budgets, or says which role a task is for.")
    .option("--for <words or path>", "which role the role-selection table gives for this, and why")
    .option("--agents-dir <dir>", "list the agent files of this folder too")
    .option("--json", "print JSON");
  const line = readCommandLine(command, argv);
  if (line.kind === "help") return { exitCode: 0, stdout: line.text, stderr: "" };
  if (line.kind === "usage") return wrong(line.problem);
  const options = command.opts<Options>();
  const json = options.json === true;
  if (options.for !== undefined) {
    if (options.agentsDir !== undefined)
      return wrong(
        "--for asks the role-selection table, which --agents-dir adds nothing to; use one of the two",
      );
    if (options.for.trim() === "") return wrong("--for is blank; name words of the task, or a path");
    return { exitCode: 0, stdout: roleChoice(options.for, json), stderr: "" };
  }
  if (options.agentsDir === "") return wrong("--agents-dir is empty; name a folder of agent files");
  const agentsDir = options.agentsDir === undefined ? null : resolve(io.cwd, options.agentsDir);
  const { roles, problems } = listRoles({ ...io, agentsDir });
  return {
    exitCode: problems.some(({ severity }) => severity === "error") ? 1 : 0,
    stdout: json ? `${JSON.stringify(roles.map(roleAsJson), null, 2)}\n` : roleTables(roles),
    stderr: problems
      .map(({ file, line, severity, message }) => `${severity}: ${oneLine(file)}:${line}: ${message}\n`)
      .join(""),
  };
}

function wrong(problem: string): CommandResult {
  return { exitCode: 2, stdout: "", stderr: `spawn-guard roles: ${problem}\n` };
}
