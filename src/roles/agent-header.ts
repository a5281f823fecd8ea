import { closeSync, constants, openSync, readSync } from "node:fs";
import { basename } from "node:path";
import { plainType, sameAgentType } from "../guard/agent-type.ts";
import { findFrontmatter } from "./frontmatter-fence.ts";

/** Bytes that are read of a file: the frontmatter of a real one has a few hundred; those that have more are read on. */
const BEGINNINGS = [1_024, 16_384];
/** Ways in which YAML writes a letter otherwise than as itself, or joins two lines. */
const ESCAPES = /\\[xuU\n]/;
const ASCII = /^[\0-\x7f]*$/;

const buffer = Buffer.allocUnsafe(Math.max(...BEGINNINGS));

/**
 * The frontmatter's text at the beginning of a file, `""` for a file that is surely no agent's; null where that takes
 * the reader of agent files to tell, because it is long, broken, or cannot be read.
 */
export function readHeader(file: string): string | null {
  try {
    const descriptor = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      for (const most of BEGINNINGS) {
        const count = readSync(descriptor, buffer, 0, most, 0);
        const header = headerIn(buffer.toString("utf8", 0, count), count < most);
        if (header !== null || count < most) return header;
      }
    } finally {
      closeSync(descriptor);
    }
  } catch {
    // The reader of agent files says why.
  }
  return null;
}

function headerIn(text: string, isWhole: boolean): string | null {
  // A line that is cut off may be anything.
  const block = findFrontmatter(isWhole ? text : text.slice(0, text.lastIndexOf("\n") + 1));
  if (block.kind === "found") return block.yaml;
  return block.kind === "absent" && isWhole ? "" : null;
}

/**
 * Whether a file may hold the agent that a type means, or be broken and meant for it: false only where its name can be
 * neither, as the host compares names, and the file need not be read.
 */
export function mayHold(file: string, header: string | null, type: string): boolean {
  if (header === null || sameAgentType(basename(file, ".md"), type)) return true;
  // What other letters become in lower case depends on the letters around them.
  if (!ASCII.test(type) || ESCAPES.test(header)) return true;
  return plainType(header).includes(plainType(type));
}
