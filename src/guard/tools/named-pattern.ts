import { PLUGIN_SCOPE } from "../../roles/plugin-scope.ts";
import { plainType } from "../agent-type.ts";
import { splitAtCommas, unquoted } from "./comma-list.ts";

/** The plugin's own scope, in the spelling under which agent types are compared. */
const OWN_SCOPE = plainType(PLUGIN_SCOPE);

/** The agent types in `Agent(a, b)`, as written. */
export function agentTypes(inside: string): string[] {
  return splitAtCommas(inside).map(unquoted);
}

/** Whether two agent types are the same to the guard. */
export function sameAgent(one: string, other: string): boolean {
  return agentKey(one) === agentKey(other);
}

/**
 * The spelling under which agent types are compared, as the host does (agent-type.ts). A role of this plugin is
 * the same with its scope and without: `qa-engineer` is `spawn-guard:qa-engineer`. Other plugins' scopes count.
 */
function agentKey(type: string): string {
  const plain = plainType(type);
  return plain.startsWith(OWN_SCOPE) ? plain.slice(OWN_SCOPE.length) : plain;
}

/** `Skill(name)`, or with `within` also what is called `name:…`: from `Skill(name:*)`. */
export type SkillPattern = { name: string; within: boolean };

export function skillPattern(written: string): SkillPattern | null {
  const text = unquoted(written.trim()).replace(/^\//, "");
  const name = text.replace(/(?::\*| \*)$/, "");
  if (name === "" || /[*()]/.test(name)) return null;
  return { name, within: text.endsWith(":*") };
}

/** The host lets `Skill(two:*)` match `twoo` too; here a prefix ends at a colon. */
export function skillAllows(pattern: SkillPattern, skill: string): boolean {
  const name = skill.replace(/^\//, "");
  return name === pattern.name || (pattern.within && name.startsWith(`${pattern.name}:`));
}

/** For rules that take away: as wide as the host reads them, with a plugin's scope or without. */
export function skillBans(pattern: SkillPattern, skill: string): boolean {
  const name = skill.trim().replace(/^\//, "").toLowerCase();
  const banned = pattern.name.toLowerCase();
  const bare = name.slice(name.lastIndexOf(":") + 1);
  return name === banned || bare === banned || (pattern.within && name.startsWith(banned));
}

export function skillCovers(outer: SkillPattern, inner: SkillPattern): boolean {
  return skillAllows(outer, inner.name) && (!inner.within || outer.within);
}
