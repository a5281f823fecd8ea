import { effectiveTools } from "../payload/allowed-tools.ts";
import { defaultBudget, roleType } from "../roles/role-budget.ts";
import type { ListedRole } from "./role-listing.ts";

const LIMITS = ["input", "output", "calls", "turns", "time"];

/** The roles that a payload may name, and below them the agent files of project, user and a named folder. */
export function roleTables(listed: readonly ListedRole[]): string {
  const roles = listed.filter(({ role }) => role.origin === "plugin" || role.origin === "builtin");
  const others = listed.filter((each) => !roles.includes(each));
  const scoped = roles.find(({ role }) => role.origin === "plugin")?.agentType.split(":")[0];
  return [
    table([
      ["role", "type", ...LIMITS, "tools"],
      ...roles.map((each) => [each.role.name, roleType(each.role), ...limits(each), tools(each)]),
    ]),
    ...(scoped === undefined ? [] : [`\nAn Agent call names the plugin's roles ${scoped}:<role>.\n`]),
    ...(others.length === 0
      ? []
      : [
          "\nAgent files, which an Agent call names as they stand here; the guard gives such a spawn its payload:\n",
          table([
            ["agent", "from", ...LIMITS, "tools"],
            ...others.map((each) => [each.agentType, each.role.origin, ...limits(each), tools(each)]),
          ]),
        ]),
    ...notes(listed),
  ].join("");
}

/** One entry of the JSON array. */
export function roleAsJson({ role, agentType, file, instead }: ListedRole) {
  return {
    name: role.name,
    agent_type: agentType,
    origin: role.origin,
    file,
    instead,
    type: roleType(role),
    /** null: everything */
    tools: role.tools,
    disallowed_tools: role.disallowedTools,
    effective_tools: effectiveTools(role),
    budget: defaultBudget(role),
  };
}

/** A path may hold any character but NUL; a terminal gets none that controls it. */
export function oneLine(path: string): string {
  return path.replace(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, "?");
}

function limits({ role }: ListedRole): string[] {
  const budget = defaultBudget(role);
  return [
    String(budget.max_input_tokens),
    String(budget.max_output_tokens),
    String(budget.max_tool_calls),
    String(budget.max_turns),
    `${budget.timeout_ms / 1000} s`,
  ];
}

function tools({ role }: ListedRole): string {
  const left = effectiveTools(role);
  if (role.tools !== null) return left.length === 0 ? "none" : left.join(", ");
  return role.disallowedTools.length === 0 ? "* (no list)" : `* except ${role.disallowedTools.join(", ")}`;
}

/** Where each agent file is, and which one counts where several have a name. */
function notes(listed: readonly ListedRole[]): string[] {
  const lines = listed.flatMap(({ role, agentType, file, instead }) => {
    const own = role.origin === "plugin" || file === null ? null : `${agentType}: ${oneLine(file)}`;
    if (instead === null) return own === null ? [] : [own];
    const where = oneLine(instead);
    if (own === null) return [`${agentType} is replaced by ${where}: Claude Code starts that agent`];
    return [`${own} is not used, or not for certain: ${where} has the name too`];
  });
  return lines.length === 0 ? [] : ["\n", ...lines.map((line) => `${line}\n`)];
}

function table(lines: readonly string[][]): string {
  const columns = lines[0]?.length ?? 0;
  const widths = Array.from({ length: columns }, (_, column) =>
    Math.max(...lines.map((line) => line[column]?.length ?? 0)),
  );
  return lines
    .map((line) => line.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join("  "))
    .map((line) => `${line.trimEnd()}\n`)
    .join("");
}
