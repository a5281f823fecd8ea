import { Lexer } from "yaml";

/** Limits on a frontmatter block; a real one has a few dozen tokens. Beyond them parsers hang or abort (case 96). */
export const FRONTMATTER_LIMITS = {
  /** UTF-16 code units */
  characters: 65_536,
  lines: 1_000,
  /** YAML tokens; duplicate-key checks cost the square of the keys */
  tokens: 4_000,
  /** brackets and `- - -` within each other */
  depth: 20,
} as const;

/**
 * Says which limit a block breaks, or null. Reads tokens only, so that it can stand before the YAML parser:
 * 65,000 open braces abort the whole Node process there, which no `catch` can stop.
 */
export function brokenLimit(yaml: string): string | null {
  const { characters, lines, tokens, depth } = FRONTMATTER_LIMITS;
  if (yaml.length > characters) {
    return `frontmatter has ${yaml.length} characters, at most ${characters} are read; shorten it, or move text to the body`;
  }
  const lineCount = yaml.split("\n").length;
  if (lineCount > lines) return `frontmatter has ${lineCount} lines, at most ${lines} are read; shorten it`;

  let count = 0;
  let brackets = 0;
  let dashes = 0;
  for (const token of new Lexer().lex(yaml)) {
    count += 1;
    if (token === "[" || token === "{") brackets += 1;
    else if (token === "]" || token === "}") brackets = Math.max(0, brackets - 1);
    else if (token === "-" || token === "?") dashes += 1;
    else if (token === "\n") dashes = 0;
    if (count > tokens) return `frontmatter has more than ${tokens} YAML tokens; shorten it`;
    if (brackets + dashes > depth) {
      return `frontmatter nests more than ${depth} levels deep; flatten it`;
    }
  }
  return null;
}
