import { readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import { checksum } from "../ledger/checksum.ts";
import { nearestName } from "../payload/nearest-name.ts";
import { showValue } from "../payload/show-value.ts";
import { parseAgentFile } from "../roles/agent-file.ts";
import { readAgentFolder } from "../roles/agent-folder.ts";
import type { AgentPlace } from "../roles/agent-places.ts";
import { BUILTIN_ROLES } from "../roles/builtin-roles.ts";
import { findOwnRole } from "../roles/own-role.ts";
import { PLUGIN_ROLES } from "../roles/plugin-roles.generated.js";
import type { AgentFileProblem, Role } from "../roles/role.ts";

const MAX_FILE_BYTES = 1_048_576;

export type LoadedRole =
  /** `warnings` are for the person who keeps the agent file */
  { ok: true; role: Role; warnings: string[] } | { ok: false; problem: string };

/**
 * The one role that is asked for: a built-in, or an agent file of the plugin. Reads only
 * `<agentsDir>/<name>.md` when that is the role's file; the whole folder for other spellings, beside files that
 * the plugin did not bring, and for the list in the error. Of the project's and user's agent files only one
 * that stands in for a built-in can be a role.
 */
export function loadRole(name: string, agentsDir: string, places: readonly AgentPlace[] = []): LoadedRole {
  const builtin = BUILTIN_ROLES.find((role) => role.name === name);
  if (builtin !== undefined) return standIn(name, places) ?? { ok: true, role: builtin, warnings: [] };
  const own = onlyBuiltFiles(agentsDir) ? loadOwnFile(name, agentsDir) : null;
  return own ?? loadFromFolder(name, agentsDir, places);
}

/** The agent file that Claude Code starts in place of a built-in. */
function standIn(name: string, places: readonly AgentPlace[]): LoadedRole | null {
  const own = findOwnRole(name, places, readAgentFolder);
  if (own === null) return null;
  if ("broken" in own)
    return {
      ok: false,
      problem: `an agent file stands in for ${name} and cannot be used; mend it:\n${own.broken}`,
    };
  const { role, file } = own;
  return {
    ok: true,
    role,
    warnings: [`${name} is replaced by ${file}: Claude Code starts that agent, with its tools`],
  };
}

/** Another file may give a role's name a second time. */
function onlyBuiltFiles(agentsDir: string): boolean {
  try {
    return readdirSync(agentsDir).every((file) =>
      PLUGIN_ROLES.some(({ role }) => `${role.name}.md` === file),
    );
  } catch {
    return false;
  }
}

/** Null when there is no file of that name, or when it holds another role. */
function loadOwnFile(name: string, agentsDir: string): LoadedRole | null {
  // Only such a name becomes a path.
  if (!/^[A-Za-z0-9][A-Za-z0-9-]{0,99}$/.test(name)) return null;
  const file = join(agentsDir, `${name}.md`);
  const text = readAgentText(file);
  if (text === null) return null;
  const asBuilt = PLUGIN_ROLES.find((entry) => entry.role.name === name);
  // An unedited file needs no YAML parser, a tenth of the command's time.
  if (asBuilt?.checksum === checksum(text)) return { ok: true, role: asBuilt.role, warnings: [] };
  const { role, problems } = parseAgentFile(text, file, "plugin");
  if (role === null) return { ok: false, problem: brokenFile(name, problems) };
  if (role.name !== name) return null;
  return { ok: true, role, warnings: warnings(problems, role) };
}

function readAgentText(file: string): string | null {
  try {
    const stats = statSync(file);
    if (!stats.isFile() || stats.size > MAX_FILE_BYTES) return null;
    return new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file));
  } catch {
    // The whole folder is read next, and says what is wrong with the file.
    return null;
  }
}

function loadFromFolder(name: string, agentsDir: string, places: readonly AgentPlace[]): LoadedRole {
  const folder = readAgentFolder(agentsDir, "plugin");
  const found = folder.roles.get(name);
  if (found !== undefined) {
    const own = folder.problems.filter(({ file }) => file === found.file);
    return { ok: true, role: found.role, warnings: warnings(own, found.role) };
  }
  const files = folder.ambiguous.filter(({ role }) => role.name === name).map(({ file }) => file);
  const own = folder.problems.filter(({ file }) => [join(agentsDir, `${name}.md`), ...files].includes(file));
  if (own.some(({ severity }) => severity === "error")) return { ok: false, problem: brokenFile(name, own) };
  return { ok: false, problem: unknownRole(name, [...folder.roles.keys()], agentsDir, places) };
}

function unknownRole(
  name: string,
  plugin: string[],
  agentsDir: string,
  places: readonly AgentPlace[],
): string {
  if (plugin.length === 0) return `no roles in ${agentsDir}; install the plugin again`;
  const builtins = BUILTIN_ROLES.map((role) => role.name);
  const near = nearestName(name.slice(name.indexOf(":") + 1), [...plugin, ...builtins]);
  const own = findOwnRole(name, places, readAgentFolder);
  const elsewhere =
    own === null || "broken" in own
      ? ""
      : `\n${own.file} is no role of a payload; call Agent with subagent_type ${own.role.name}, and the guard gives that spawn its payload`;
  return [
    `role ${showValue(name)} is unknown${near === null ? "" : `; did you mean ${near}?`}${elsewhere}`,
    `The plugin's ${plugin.length}: ${plugin.sort().join(", ")}`,
    `Claude Code's ${builtins.length}: ${builtins.join(", ")}`,
  ].join("\n");
}

function brokenFile(name: string, problems: readonly AgentFileProblem[]): string {
  const lines = problems
    .filter(({ severity }) => severity === "error")
    .map(({ file, line, message }) => `${file}:${line}: ${message}`);
  return [`the agent file of ${name} cannot be used; mend it:`, ...lines].join("\n");
}

function warnings(problems: readonly AgentFileProblem[], role: Role): string[] {
  return (
    problems
      // What follows from the tools list is said once, with the payload's own warning.
      .filter(({ message }) => !/^tools is (not set|empty)/.test(message))
      .map(({ file, line, message }) => `${role.name}: ${message} (${file}:${line})`)
  );
}
