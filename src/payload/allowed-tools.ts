import type { Role } from "../roles/role.ts";
import { spawnableRoles } from "../roles/tool-list.ts";

/** The spawn tool's name, and the one it has on older hosts. */
const SPAWN_TOOLS = ["Agent", "Task"];

export type AllowedTools = {
  /** never empty: the schema asks for one entry, and `*` means what the role has, be it everything or nothing */
  tools: string[];
  warning: string | null;
};

/** What a role may use: the list of its agent file, less what the same file disallows. */
export function allowedTools(role: Role): AllowedTools {
  const tools = listedTools(role);
  if (tools !== null && tools.length > 0) return { tools, warning: null };
  return { tools: ["*"], warning: role.tools === null ? inheritsAll(role) : hasNone(role) };
}

/** The same as the host reads it: `*` alone where there is no list, nothing where the list is empty. */
export function effectiveTools(role: Role): string[] {
  return listedTools(role) ?? ["*"];
}

/** Whether the role has the spawn tool: listed, or inherited because nothing is listed. */
export function maySpawn(role: Role): boolean {
  return grantsSpawn(effectiveTools(role), role.disallowedTools);
}

/** Whether tools, less what is taken from them, hold the spawn tool for at least one role. */
export function grantsSpawn(tools: readonly string[], disallowed: readonly string[]): boolean {
  return !SPAWN_TOOLS.some((tool) => disallowed.includes(tool)) && spawnableRoles(tools) !== "none";
}

function listedTools(role: Role): string[] | null {
  if (role.tools === null) return null;
  return role.tools.filter((rule) => !isDisallowed(rule, role.disallowedTools));
}

/** `Bash` takes away `Bash` and every `Bash(…)`; `Bash(rm:*)` takes away only itself. */
function isDisallowed(rule: string, disallowed: readonly string[]): boolean {
  return disallowed.includes(rule) || disallowed.includes(toolName(rule));
}

function toolName(rule: string): string {
  const bracket = rule.indexOf("(");
  return bracket === -1 ? rule : rule.slice(0, bracket);
}

function inheritsAll(role: Role): string {
  const spawns = maySpawn(role) ? ", the spawn tool included" : ", except what disallowedTools takes away";
  const review =
    role.origin === "builtin"
      ? "it is built into Claude Code; choose a role with a list where less will do"
      : `review its agent file (agents/${role.name}.md) and give it a tools list`;
  return `role ${role.name} has no tools list and inherits every tool${spawns}; ${review}`;
}

function hasNone(role: Role): string {
  const why = role.tools?.length === 0 ? "has an empty tools list" : "disallows every tool that it lists";
  return `role ${role.name} ${why} and can use no tool; review its agent file (agents/${role.name}.md)`;
}
