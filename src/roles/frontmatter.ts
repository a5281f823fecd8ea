import matter from "gray-matter";
import { findFrontmatter } from "./frontmatter-fence.ts";
import { brokenLimit } from "./frontmatter-limits.ts";
import { FrontmatterError, type FrontmatterFields, readYamlFields } from "./frontmatter-yaml.ts";

export type Frontmatter =
  | { kind: "absent" }
  | { kind: "broken"; line: number; message: string }
  | { kind: "read"; fields: FrontmatterFields };

/** Every name under which gray-matter could find an engine that evaluates or reads another language. */
const REFUSED_LANGUAGES = ["javascript", "js", "coffee", "coffeescript", "cson", "json", "toml"];

/**
 * Reads the frontmatter of an agent file. Never throws: what cannot be read is `broken`, with its 1-based
 * line and the way to mend it.
 */
export function readFrontmatter(text: string): Frontmatter {
  const block = findFrontmatter(text);
  if (block.kind !== "found") return block;
  // before gray-matter, whose own comment filter takes quadratic time on blank lines
  const limit = brokenLimit(block.yaml);
  if (limit !== null) return { kind: "broken", line: 1, message: limit };

  try {
    return { kind: "read", fields: parseBlock(block.yaml) };
  } catch (error) {
    if (error instanceof FrontmatterError) {
      return { kind: "broken", line: error.line, message: error.message };
    }
    const detail = error instanceof Error ? error.message : String(error);
    return { kind: "broken", line: 1, message: `frontmatter cannot be read: ${detail}` };
  }
}

function parseBlock(yaml: string): FrontmatterFields {
  let fields: FrontmatterFields = new Map();
  const refuse = () => {
    throw new FrontmatterError(1, "only YAML frontmatter is read; no other language is run");
  };
  // Passing options keeps gray-matter from answering out of its cache, which hands out shared objects.
  matter(`---\n${yaml}\n---\n`, {
    language: "yaml",
    engines: {
      ...Object.fromEntries(REFUSED_LANGUAGES.map((name) => [name, refuse])),
      // the text it hands over begins with the rest of the fence's line, so its line numbers are the file's
      yaml: (source: string) => {
        fields = readYamlFields(source);
        return {};
      },
    },
  });
  return fields;
}
