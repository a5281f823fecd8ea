import { existsSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { plainType } from "../guard/agent-type.ts";
import { type AgentFolder, readAgentFolder } from "../roles/agent-folder.ts";
import type { AgentPlace } from "../roles/agent-places.ts";
import { BUILTIN_ROLES } from "../roles/builtin-roles.ts";
import type { AgentFileProblem, Role } from "../roles/role.ts";
import { readPluginName } from "./build-world.ts";

export type ListedRole = {
  /** `foreign` is its origin in a folder that was named in the arguments */
  role: Role;
  /** the name by which an Agent call starts it */
  agentType: string;
  /** null for what is built into Claude Code */
  file: string | null;
  /** the file that Claude Code reads instead, or may read as well; null where this one is used */
  instead: string | null;
};

export type RoleListing = { roles: ListedRole[]; problems: AgentFileProblem[] };

export type ListingPlaces = {
  /** the folder of the installed plugin */
  pluginRoot: string;
  /** the project's and the user's folders, the one that wins first */
  places: readonly AgentPlace[];
  /** a folder of agent files that the person named */
  agentsDir: string | null;
};

/**
 * Every agent of the plugin, of Claude Code, of the project and the user, and of a named folder, in this order. Of
 * agents that the host takes for one the first counts: the project's nearest, the user's, the built-in (host: seen
 * on 2.1.332). The plugin's stand apart, since the host knows them by their scoped names alone.
 *
 * @throws when the named folder is not there
 */
export function listRoles({ pluginRoot, places, agentsDir }: ListingPlaces): RoleListing {
  const plugin = readAgentFolder(join(pluginRoot, "agents"), "plugin");
  const own = places.map(({ folder, origin }) => readAgentFolder(folder, origin));
  const other = agentsDir === null ? null : readNamedFolder(agentsDir);
  const files = own.flatMap((folder) => inFolder(folder, null));
  const builtins = BUILTIN_ROLES.map((role): ListedRole => {
    return { role, agentType: role.name, file: null, instead: null };
  });
  const resolved = replaceLater([...files, ...builtins]);
  return {
    roles: [
      ...inFolder(plugin, readPluginName(pluginRoot)),
      ...resolved.slice(files.length),
      ...resolved.slice(0, files.length),
      ...(other === null ? [] : inFolder(other.folder, other.scope).map(asForeign)),
    ],
    problems: [plugin, ...own, ...(other === null ? [] : [other.folder])].flatMap(({ problems }) => problems),
  };
}

/** A folder's roles; one of two files that give a name different rights is listed with the other. */
function inFolder({ roles, ambiguous }: AgentFolder, scope: string | null): ListedRole[] {
  const listed = (role: Role, file: string, instead: string | null): ListedRole => {
    return { role, agentType: scope === null ? role.name : `${scope}:${role.name}`, file, instead };
  };
  return [
    ...[...roles.values()].map(({ role, file }) => listed(role, file, null)),
    ...ambiguous.map(({ role, file }) => {
      const twin = ambiguous.find((other) => other.role.name === role.name && other.file !== file);
      return listed(role, file, twin?.file ?? null);
    }),
  ];
}

/** Its rights and budget are nobody's of whom this plugin knows more than a file says. */
function asForeign(listed: ListedRole): ListedRole {
  return { ...listed, role: { ...listed.role, origin: "foreign" } };
}

function replaceLater(ranked: readonly ListedRole[]): ListedRole[] {
  const holders = new Map<string, string | null>();
  return ranked.map((listed) => {
    const name = plainType(listed.role.name);
    const holder = holders.get(name);
    if (holder === undefined) holders.set(name, listed.file);
    return { ...listed, instead: listed.instead ?? holder ?? null };
  });
}

/** Agent files of another plugin are read as a plugin's: the host knows them by scoped names and ignores some keys. */
function readNamedFolder(dir: string): { folder: AgentFolder; scope: string | null } {
  if (!existsSync(dir)) throw new Error(`--agents-dir ${dir} is not there; name a folder of agent files`);
  if (!statSync(dir).isDirectory())
    throw new Error(`--agents-dir ${dir} is no folder; name a folder of agent files`);
  const pluginRoot = dirname(dir);
  const scope = existsSync(join(pluginRoot, ".claude-plugin", "plugin.json"))
    ? readPluginName(pluginRoot)
    : null;
  return { folder: readAgentFolder(dir, scope === null ? "project" : "plugin"), scope };
}
