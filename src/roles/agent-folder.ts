import { readFileSync, statSync } from "node:fs";
import { basename } from "node:path";
import { parseAgentFile } from "./agent-file.ts";
import { type AgentListing, listAgentFiles } from "./agent-listing.ts";
import type { AgentFileProblem, Role } from "./role.ts";

/** Bytes; a real agent file has a few thousand. */
const MAX_FILE_BYTES = 1_048_576;

export type FoundRole = { role: Role; file: string };

export type AgentFolder = {
  roles: Map<string, FoundRole>;
  /** files that give one name different rights; none of them is in `roles` */
  ambiguous: FoundRole[];
  problems: AgentFileProblem[];
  /** false where not all of the folder was looked at */
  complete: boolean;
};

/**
 * Reads every `*.md` below a folder, sub-folders and symbolic links included, each real file and folder once
 * (case 92). A name that two files give different rights is an error and no role (case 88): Claude Code loads one of
 * them, in no order that it promises. A folder that does not exist is empty. Never throws for what is in the folder.
 */
export function readAgentFolder(dir: string, origin: Role["origin"]): AgentFolder {
  return readAgentFiles(listAgentFiles(dir), origin);
}

/** The same for files that have been listed. */
export function readAgentFiles(listing: AgentListing, origin: Role["origin"]): AgentFolder {
  const { files, problems, complete } = listing;
  const folder: AgentFolder = { roles: new Map(), ambiguous: [], problems: [...problems], complete };
  for (const file of files) addFile(folder, file, origin);
  return folder;
}

function addFile({ roles, ambiguous, problems }: AgentFolder, file: string, origin: Role["origin"]): void {
  const report = (severity: AgentFileProblem["severity"], message: string) =>
    problems.push({ file, line: 1, severity, message });

  const content = readAgentText(file);
  if (content.kind === "unreadable") {
    report("error", content.message);
    return;
  }
  const parsed = parseAgentFile(content.text, file, origin);
  problems.push(...parsed.problems);
  if (parsed.role === null) return;

  const { name } = parsed.role;
  const base = basename(file, ".md");
  if (base.normalize("NFC") !== name.normalize("NFC")) {
    report(
      "warning",
      `name ${name} differs from the file's, ${base}; the name counts, rename the file to ${name}.md`,
    );
  }
  const added = { role: parsed.role, file };
  const first = roles.get(name) ?? ambiguous.find(({ role }) => role.name === name);
  if (first === undefined) roles.set(name, added);
  else if (roles.has(name) && rightsOf(first.role) === rightsOf(parsed.role)) {
    report("warning", `name ${name} is taken by ${first.file}, with the same tools and limits; remove one`);
  } else {
    report(
      "error",
      `name ${name} is taken by ${first.file}, with other tools or limits; Claude Code loads only one of the two, so neither is used: rename one`,
    );
    if (roles.delete(name)) ambiguous.push(first);
    ambiguous.push(added);
  }
}

/** All of a role that decides what it may do. */
function rightsOf({ description: _, ...rights }: Role): string {
  return JSON.stringify(rights);
}

type AgentText = { kind: "text"; text: string } | { kind: "unreadable"; message: string };

function readAgentText(file: string): AgentText {
  try {
    const { size } = statSync(file);
    if (size > MAX_FILE_BYTES) {
      const message = `file has ${size} bytes, at most ${MAX_FILE_BYTES} are read; shorten it`;
      return { kind: "unreadable", message };
    }
    // fatal: bytes that are no UTF-8 must not turn into other names
    return { kind: "text", text: new TextDecoder("utf-8", { fatal: true }).decode(readFileSync(file)) };
  } catch (error) {
    return { kind: "unreadable", message: `file cannot be read as UTF-8 text: ${messageOf(error)}` };
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
