import { join } from "node:path";
import { DEFAULT_AGENT_TYPE, plainType, sameAgentType } from "../guard/agent-type.ts";
import type { Target } from "../guard/spawn-request.ts";
import { checksum } from "../ledger/checksum.ts";
import { readIfPresent } from "../ledger/files.ts";
import { BUILTIN_ROLES } from "./builtin-roles.ts";
import { foreignRole } from "./foreign-role.ts";
import type { OwnAgents } from "./own-agents.ts";
import type { BrokenRole } from "./own-role.ts";
import { PLUGIN_ROLES } from "./plugin-roles.generated.js";
import { PLUGIN_SCOPE } from "./plugin-scope.ts";
import type { Role } from "./role.ts";

/** Where agent files are looked for. */
export type AgentFolders = {
  /** the plugin's own folder `agents` */
  plugin: string;
  own: OwnAgents;
};

/**
 * The agent that a call's `subagent_type` means: an agent file of the project or user, else a built-in, else one
 * of the plugin's roles by bare or scoped name (the host knows them by the scoped one alone), else a stranger.
 * Spellings are compared as the host compares them. No type is the host's general-purpose.
 */
export async function resolveTarget(
  type: string | undefined,
  folders: AgentFolders,
): Promise<Target | BrokenRole> {
  const asked = type === undefined || type.trim() === "" ? DEFAULT_AGENT_TYPE : type;
  const own = await folders.own.find(asked);
  if (own !== null && "broken" in own) return own;
  if (own !== null) return { role: own.role, agentType: own.role.name, known: true };
  const builtin = BUILTIN_ROLES.find((role) => sameAgentType(role.name, asked));
  if (builtin !== undefined) return { role: builtin, agentType: builtin.name, known: true };
  const bare = plainType(asked).startsWith(plainType(PLUGIN_SCOPE))
    ? plainType(asked).slice(plainType(PLUGIN_SCOPE).length)
    : plainType(asked);
  const entry = PLUGIN_ROLES.find(({ role }) => plainType(role.name) === bare);
  if (entry === undefined) return { role: foreignRole(asked), agentType: asked, known: false };
  const role = await current(entry, folders.plugin);
  return { role, agentType: PLUGIN_SCOPE + role.name, known: true };
}

/** A plugin role as its file says now: as it was built, unless somebody edited it. */
async function current(
  { role, checksum: built }: (typeof PLUGIN_ROLES)[number],
  folder: string,
): Promise<Role> {
  const file = join(folder, `${role.name}.md`);
  const text = readIfPresent(file);
  if (text === null || checksum(text) === built) return role;
  const { readAgentFolder } = await import("./agent-folder.ts");
  const edited = readAgentFolder(folder, "plugin").roles.get(role.name);
  if (edited === undefined)
    throw new Error(`${file} was edited and cannot be read; mend it or reinstall the plugin`);
  return edited.role;
}
