import { mayHold, readHeader } from "./agent-header.ts";
import { type AgentListing, listAgentFiles } from "./agent-listing.ts";
import type { AgentPlace } from "./agent-places.ts";
import { findOwnRole, type OwnRole } from "./own-role.ts";

type Listed = AgentListing & { headers: ReadonlyMap<string, string | null> };

/**
 * The agent files of the project and the user, for one decision: the beginning of each is read once, and the whole of
 * those alone that may be the one asked for. The reader of agent files is loaded only for these.
 */
export class OwnAgents {
  private readonly listed = new Map<string, Listed>();

  /** @param places the one that the host prefers first */
  constructor(private readonly places: readonly AgentPlace[]) {}

  /** The agent file that a type means; null where there is none. */
  async find(type: string): Promise<OwnRole | null> {
    const among = new Map(this.places.map(({ folder }) => [folder, this.mayBe(folder, type)]));
    const found = [...among.values()];
    if (found.every(({ files, problems }) => files.length === 0 && problems.length === 0)) return null;
    const { readAgentFiles } = await import("./agent-folder.ts");
    const none: AgentListing = { files: [], problems: [], complete: true };
    return findOwnRole(type, this.places, (folder, origin) =>
      readAgentFiles(among.get(folder) ?? none, origin),
    );
  }

  private mayBe(folder: string, type: string): AgentListing {
    const { files, headers, ...listing } = this.list(folder);
    return { ...listing, files: files.filter((file) => mayHold(file, headers.get(file) ?? null, type)) };
  }

  private list(folder: string): Listed {
    const known = this.listed.get(folder);
    if (known !== undefined) return known;
    const listing = listAgentFiles(folder);
    const listed = { ...listing, headers: new Map(listing.files.map((file) => [file, readHeader(file)])) };
    this.listed.set(folder, listed);
    return listed;
  }
}
