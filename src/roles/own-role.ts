import { basename } from "node:path";
import { sameAgentType } from "../guard/agent-type.ts";
import { readIfPresent } from "../ledger/files.ts";
import type { AgentFolder, FoundRole } from "./agent-folder.ts";
import { readHeader } from "./agent-header.ts";
import { MAX_ENTRIES } from "./agent-listing.ts";
import type { AgentPlace } from "./agent-places.ts";

/** The agent file of a type cannot be used: which one, where and why. */
export type BrokenRole = { broken: string };

export type OwnRole = FoundRole | BrokenRole;

/**
 * The project's or user's agent file that a type means: by its exact name, else by the one name that the host
 * takes for the same. Null where no file has it.
 *
 * @param places the one that the host prefers first
 * @param read the reader of agent folders, which few callers have loaded
 */
export function findOwnRole(
  type: string,
  places: readonly AgentPlace[],
  read: (folder: string, origin: AgentPlace["origin"]) => AgentFolder,
): OwnRole | null {
  for (const { folder, origin } of places) {
    const { roles, ambiguous, problems, complete } = read(folder, origin);
    if (!complete)
      return {
        broken: `${folder} has more than ${MAX_ENTRIES} entries, so that not all agents in it are known`,
      };
    const exact = roles.get(type);
    const near = [...roles.values()].filter(({ role }) => sameAgentType(role.name, type));
    const [only, ...others] = near;
    // The host may load with every tool what cannot be read here (case 76): that is nothing to guess about.
    const meant = (file: string) => {
      // What shares its name with another could be read: its own name says whose it is, and not the file's.
      const named = ambiguous.find((found) => found.file === file);
      return named === undefined ? mayBe(file, type) : sameAgentType(named.role.name, type);
    };
    const broken = problems.find(({ severity, file }) => severity === "error" && meant(file));
    if (exact === undefined && broken !== undefined)
      return { broken: `${broken.file}:${broken.line}: ${broken.message}` };
    if (exact !== undefined) return exact;
    if (others.length > 0)
      return {
        broken: `${near.map(({ file }) => file).join(" and ")} have names that Claude Code takes for one`,
      };
    if (only !== undefined) return only;
  }
  return null;
}

/** Whether an agent file that cannot be read may be this type's: by its name, or by the file's. */
function mayBe(file: string, type: string): boolean {
  const text = readHeader(file) ?? readIfPresent(file) ?? "";
  const name = /^name:[ \t]*["']?([^"'\r\n]*)/m.exec(text)?.[1] ?? "";
  return [name.trim(), basename(file, ".md")].some((candidate) => sameAgentType(candidate, type));
}
