import type { Role } from "./role.ts";

/** The plugin's name as Claude Code puts it before an agent's: `spawn-guard:frontend-engineer`. */
export const PLUGIN_SCOPE = "spawn-guard:";

export type RoleLookup =
  | { kind: "found"; role: Role }
  | { kind: "ambiguous"; candidates: string[] }
  | { kind: "unknown"; message: string };

/**
 * Finds a role by its exact name, or a plugin role by its scoped one. No other spelling is tried: the host
 * ignores case and hyphens, and a guess here could bind a spawn to another role's tools (case 88).
 *
 * Among roles of one name, an agent file of the project or user replaces the built-in (seen: host facts) and
 * the project's comes before the user's (Claude Code's documented order). Nothing else decides: what is left
 * is ambiguous.
 */
export function findRole(name: string, roles: Iterable<Role>): RoleLookup {
  const all = [...roles];
  const exact = all.filter((role) => role.name === name);
  const scoped = all.filter((role) => role.origin === "plugin" && `${PLUGIN_SCOPE}${role.name}` === name);
  const matching = withoutReplaced(exact.length > 0 ? exact : scoped);
  const [role] = matching;
  if (role === undefined) return { kind: "unknown", message: unknownMessage(name, all) };
  if (matching.length > 1) return { kind: "ambiguous", candidates: matching.map(candidate) };
  return { kind: "found", role };
}

function withoutReplaced(roles: Role[]): Role[] {
  const has = (origin: Role["origin"]) => roles.some((role) => role.origin === origin);
  return roles.filter(({ origin }) => {
    if (origin === "builtin") return !has("project") && !has("user");
    if (origin === "user") return !has("project");
    return true;
  });
}

function candidate({ name, origin }: Role): string {
  return origin === "plugin" ? `${PLUGIN_SCOPE}${name}` : `${name} (${origin})`;
}

function unknownMessage(name: string, roles: Role[]): string {
  const shown = JSON.stringify(name.length > 80 ? `${name.slice(0, 80)}…` : name);
  const names = [...new Set(roles.map((role) => role.name))].sort();
  if (names.length === 0) return `role ${shown} is unknown, and no roles are loaded; check plugin/agents`;
  return `role ${shown} is unknown; use one of these ${names.length}: ${names.join(", ")}`;
}
