/** Where a text's frontmatter stands, found before any YAML is read. */
export type FrontmatterBlock =
  | { kind: "absent" }
  | { kind: "broken"; line: number; message: string }
  /** what stands between the fences; its first line is line 2 of the file */
  | { kind: "found"; yaml: string };

const FENCE = /^---[ \t]*$/;

/**
 * Finds the frontmatter of an agent file: it opens with a line `---` at the very start (a byte order mark
 * may come first) and closes with the next such line. Line ends may be LF, CRLF or CR.
 *
 * gray-matter looks for `---` by prefix, takes `---js` as a language and turns the body into keys when the
 * closing fence is missing (cases 93, 94); so the block is cut out here and gray-matter sees only that.
 */
export function findFrontmatter(text: string): FrontmatterBlock {
  const lines = text
    .replace(/^\uFEFF/, "")
    .replace(/\r\n?/g, "\n")
    .split("\n");
  const first = lines[0] ?? "";
  if (!FENCE.test(first)) return withoutOpeningFence(first, lines);

  const close = lines.findIndex((line, index) => index > 0 && line.startsWith("---"));
  if (close === -1) {
    return broken(
      1,
      "frontmatter opened on line 1 is never closed; add a line `---` after its last key, before the body",
    );
  }
  const closing = lines[close] ?? "";
  if (!FENCE.test(closing)) {
    return broken(
      close + 1,
      `${quoted(closing)} inside the frontmatter is no fence; a fence is a line of three dashes and nothing else`,
    );
  }
  return { kind: "found", yaml: lines.slice(1, close).join("\n") };
}

function withoutOpeningFence(first: string, lines: string[]): FrontmatterBlock {
  if (first.startsWith("---")) {
    return broken(
      1,
      `fence ${quoted(first)} is not understood; frontmatter is YAML between lines of three dashes and nothing else (no code engine is run)`,
    );
  }
  const firstWritten = lines.findIndex((line) => line.trim() !== "");
  if (/^\s*---\s*$/.test(lines[firstWritten] ?? "")) {
    return broken(
      firstWritten + 1,
      `the fence \`---\` stands on line ${firstWritten + 1} or is indented; move it to the start of line 1`,
    );
  }
  return { kind: "absent" };
}

function broken(line: number, message: string): FrontmatterBlock {
  return { kind: "broken", line, message };
}

function quoted(line: string): string {
  return `\`${line.length > 40 ? `${line.slice(0, 40)}…` : line}\``;
}
