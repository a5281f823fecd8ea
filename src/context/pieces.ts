import { readMarkdown, type Section } from "./markdown-sections.ts";

/** Some lines of a source that are shown or left out together. */
export type Piece = {
  headings: string[];
  /** 1-based, both included */
  firstLine: number;
  lastLine: number;
  /** lines of the section that it is of */
  section: [number, number];
  text: string;
};

/** DESIGN, "Budgets": tokens are estimated as bytes / 4. */
export const BYTES_A_TOKEN = 4;
/** A longer section is cut at its blocks, a longer block at its lines, a longer line between characters. */
const PIECE_BYTES = 300 * BYTES_A_TOKEN;

/** Cuts a Markdown text into pieces of about 300 tokens at most, along its sections. */
export function cutIntoPieces(text: string): Piece[] {
  const { lines, sections } = readMarkdown(text);
  return sections
    .flatMap((section) => cutSection(lines, section))
    .filter((piece) => piece.text.trim() !== "");
}

function cutSection(lines: readonly string[], section: Section): Piece[] {
  const pieces: Piece[] = [];
  const { headings } = section;
  const whole = withoutBlankEnds([section.firstLine, section.lastLine], lines);
  let first = section.firstLine;
  let bytes = 0;
  const endAt = (last: number) => {
    if (last >= first) {
      const [firstLine, lastLine] = withoutBlankEnds([first, last], lines);
      const text = lines.slice(firstLine - 1, lastLine).join("\n");
      pieces.push({ headings, firstLine, lastLine, section: whole, text });
    }
    first = last + 1;
    bytes = 0;
  };
  const starts = new Set(section.blocks);
  let block = first;
  for (let line = first; line <= section.lastLine; line++) {
    if (starts.has(line)) block = line;
    const added = Buffer.byteLength(lines[line - 1] ?? "") + 1;
    if (bytes + added > PIECE_BYTES) {
      const cut = block > first ? block : line;
      endAt(cut - 1);
      for (let again = first; again < line; again++) bytes += Buffer.byteLength(lines[again - 1] ?? "") + 1;
    }
    bytes += added;
  }
  endAt(section.lastLine);
  return pieces.map((piece) => ({ ...piece, text: cutToBytes(piece.text, PIECE_BYTES) }));
}

function withoutBlankEnds([first, last]: [number, number], lines: readonly string[]): [number, number] {
  let [firstLine, lastLine] = [first, last];
  const blank = (line: number) => (lines[line - 1] ?? "").trim() === "";
  while (firstLine < lastLine && blank(firstLine)) firstLine++;
  while (lastLine > firstLine && blank(lastLine)) lastLine--;
  return [firstLine, lastLine];
}

/** The beginning of a text that has at most so many bytes of UTF-8, with `…` where it was cut. */
export function cutToBytes(text: string, most: number): string {
  if (Buffer.byteLength(text) <= most) return text;
  let kept = "";
  let bytes = Buffer.byteLength("…");
  for (const character of text) {
    bytes += Buffer.byteLength(character);
    if (bytes > most) break;
    kept += character;
  }
  return most < Buffer.byteLength("…") ? "" : `${kept}…`;
}
