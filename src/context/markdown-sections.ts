import MarkdownIt from "markdown-it";

/** A stretch of a Markdown text under one heading, sub-headings left out. */
export type Section = {
  /** the headings that it stands under, the outermost first; none before the first heading */
  headings: string[];
  /** 1-based, both included; the first is its heading, or that of the empty section that it is the first part of */
  firstLine: number;
  lastLine: number;
  /** where blocks such as paragraphs, lists and fences begin, 1-based: a section may be cut there */
  blocks: number[];
};

/** Sections, and the lines that they count, whatever the text's line ends were. */
export type MarkdownText = { lines: string[]; sections: Section[] };

/** Blocks alone: what stands within a line changes no section, and could be made to cost much time. */
const PARSER = new MarkdownIt({ html: true });
PARSER.core.ruler.enableOnly(["normalize", "block"]);
PARSER.set({ maxNesting: 20 });

/**
 * Reads a Markdown text into its sections. A heading counts where a reader sees one: not in a fence, a comment, a
 * quote or a list. Frontmatter belongs to what stands before the first heading.
 */
export function readMarkdown(text: string): MarkdownText {
  const lines = text
    .replace(/^\uFEFF/, "")
    .replace(/\r\n?/g, "\n")
    .replaceAll("\0", "\uFFFD")
    .split("\n");
  const sections: Section[] = [];
  let current: Section = { headings: [], firstLine: 1, lastLine: lines.length, blocks: [] };
  let above: { level: number; title: string }[] = [];
  const tokens = PARSER.parse(withoutFrontmatter(lines).join("\n"), {});
  for (const [index, token] of tokens.entries()) {
    if (token.level !== 0 || token.map === null) continue;
    const line = token.map[0] + 1;
    if (token.type !== "heading_open") {
      current.blocks.push(line);
      continue;
    }
    const level = Number(token.tag.slice(1));
    const title = tokens[index + 1]?.content.trim() ?? "";
    const isFirstPart = current.blocks.length === 0 && level > (above.at(-1)?.level ?? 6);
    if (line > current.firstLine && !isFirstPart) sections.push({ ...current, lastLine: line - 1 });
    above = [...above.filter((heading) => heading.level < level), { level, title }];
    const headings = above.map((heading) => heading.title);
    current = { headings, firstLine: isFirstPart ? current.firstLine : line, lastLine: line, blocks: [] };
  }
  sections.push({ ...current, lastLine: lines.length });
  return { lines, sections };
}

/** Frontmatter would read as a rule and a heading; its lines are blank to the parser. */
function withoutFrontmatter(lines: readonly string[]): readonly string[] {
  const fence = /^---[ \t]*$/;
  if (!fence.test(lines[0] ?? "")) return lines;
  const end = lines.findIndex((line, index) => index > 0 && fence.test(line));
  return lines.map((line, index) => (index <= end ? "" : line));
}
