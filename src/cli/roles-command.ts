import type { Budget } from "../payload/spawn-payload.ts";
import type { Role } from "../roles/role.ts";
import { defaultBudget, roleType } from "../roles/role-budget.ts";
import type { CommandResult } from "./command-result.ts";
import { listRoles } from "./load-role.ts";

const USAGE =
  "Usage: spawn-guard roles [--json]\n\nLists every role that a payload may name, with its default budget.\n";

/**
 * `spawn-guard roles`: the plugin's roles and Claude Code's own, as a table or as a JSON array of
 * {name, origin, type, tools, disallowed_tools, budget}. What is wrong in agent files goes to stderr;
 * exit code 1 when one of them cannot be used.
 *
 * @param argv what follows `roles`
 */
export function runRoles(argv: readonly string[], agentsDir: string): CommandResult {
  const [option, ...more] = argv;
  if (option === "--help" || option === "-h") return { exitCode: 0, stdout: USAGE, stderr: "" };
  if (more.length > 0 || (option !== undefined && option !== "--json"))
    return {
      exitCode: 2,
      stdout: "",
      stderr: `spawn-guard roles: ${JSON.stringify(argv.join(" "))} is unknown; only --json is\n`,
    };
  const { roles, problems } = listRoles(agentsDir);
  const rows = roles.map(describeRole);
  return {
    exitCode: problems.some(({ severity }) => severity === "error") ? 1 : 0,
    stdout: option === "--json" ? `${JSON.stringify(rows, null, 2)}\n` : table(rows),
    stderr: problems
      .map(({ file, line, severity, message }) => `${severity}: ${file}:${line}: ${message}\n`)
      .join(""),
  };
}

type RoleRow = {
  name: string;
  origin: Role["origin"];
  type: string;
  /** null: everything */
  tools: string[] | null;
  disallowed_tools: string[];
  budget: Budget;
};

function describeRole(role: Role): RoleRow {
  return {
    name: role.name,
    origin: role.origin,
    type: roleType(role),
    tools: role.tools,
    disallowed_tools: role.disallowedTools,
    budget: defaultBudget(role),
  };
}

const HEADER = ["role", "type", "input", "output", "calls", "turns", "time", "tools"];

function table(rows: readonly RoleRow[]): string {
  const lines = [HEADER, ...rows.map(cells)];
  const widths = HEADER.map((_, column) => Math.max(...lines.map((line) => line[column]?.length ?? 0)));
  return lines
    .map(
      (line) =>
        `${line
          .map((cell, column) => cell.padEnd(widths[column] ?? 0))
          .join("  ")
          .trimEnd()}\n`,
    )
    .join("");
}

function cells({ name, type, tools, budget }: RoleRow): string[] {
  return [
    name,
    type,
    String(budget.max_input_tokens),
    String(budget.max_output_tokens),
    String(budget.max_tool_calls),
    String(budget.max_turns),
    `${budget.timeout_ms / 1000} s`,
    tools === null ? "* (no list)" : tools.length === 0 ? "none" : tools.join(", "),
  ];
}
