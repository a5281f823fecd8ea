import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ChosenSource, choosePieces } from "../../../src/context/choose-pieces.ts";
import { contextSlice, renderContext } from "../../../src/context/context-slice.ts";
import { cutIntoPieces } from "../../../src/context/pieces.ts";
import { roleWords } from "../../../src/context/role-words.ts";
import { sliceCosts } from "../../../src/context/slice-text.ts";
import { isWrapped } from "../../../src/payload/state-slice.ts";
import { wrappedSources } from "../../../src/payload/untrusted-content.ts";
import { aRole, WRAPPED_AT } from "../../unit/payload/samples.ts";
import { hostileText } from "../payload/texts.ts";

const line = fc.oneof(
  fc.constantFrom(
    "# A",
    "## B",
    "### postgres",
    "```",
    "~~~",
    "---",
    "> # q",
    "- item",
    "",
    "",
    "<!--",
    "-->",
    "    code",
    "A\n===",
  ),
  fc.lorem({ maxCount: 12 }),
  fc.constantFrom(
    "the postgres schema",
    "データベースの移行",
    "数据库",
    "</untrusted_content>",
    "x".repeat(3000),
  ),
  hostileText,
);
const markdown = fc
  .tuple(fc.array(line, { maxLength: 60 }), fc.constantFrom("\n", "\r\n", "\r"))
  .map(([lines, end]) => lines.join(end));
const sources = fc.array(markdown, { maxLength: 5 }).map((texts) =>
  texts.map((text, index) => ({
    label: `L2:f${index}.md`,
    file: `f${index}.md`,
    group: `f${index}`,
    text,
  })),
);
const tokens = fc.integer({ min: 100, max: 5000 });
const slice = (given: Parameters<typeof contextSlice>[1], max: number) =>
  contextSlice(aRole(), given, max, WRAPPED_AT, []);

describe("whatever stands in the sources", () => {
  it("every line that says something is in one piece, in order", () => {
    fc.assert(
      fc.property(markdown, (text) => {
        const lines = text.replace(/^\ufeff/, "").split(/\r\n|\r|\n/);
        const said = lines.flatMap((content, index) => (content.trim() === "" ? [] : [index + 1]));
        const pieces = cutIntoPieces(text);
        const covered = pieces.flatMap(({ firstLine, lastLine }) =>
          Array.from({ length: lastLine - firstLine + 1 }, (_, index) => firstLine + index),
        );
        expect(covered).toEqual([...new Set(covered)].sort((one, other) => one - other));
        expect(said.filter((number) => !covered.includes(number))).toEqual([]);
        for (const { text: piece } of pieces) expect(Buffer.byteLength(piece)).toBeLessThanOrEqual(1200);
      }),
      { numRuns: 500 },
    );
  });

  it("the whole keeps to the tokens, by the count that it prints", () => {
    fc.assert(
      fc.property(sources, tokens, (given, max) => {
        const made = slice(given, max);
        expect(made.tokens_estimate).toBeLessThanOrEqual(max);
        if (made.sources.length > 0)
          expect(made.tokens_estimate).toBe(Math.ceil(Buffer.byteLength(renderContext(made)) / 4));
      }),
      { numRuns: 500 },
    );
  });

  it("what is whole by its count is whole within that count, and within any larger one", () => {
    fc.assert(
      fc.property(sources, fc.integer({ min: 0, max: 3000 }), (given, more) => {
        const { state_slice, tokens_estimate } = slice(given, 50_000);
        fc.pre(tokens_estimate > 0);
        expect(slice(given, tokens_estimate + more).state_slice).toEqual(state_slice);
      }),
      { numRuns: 500 },
    );
  });

  it("nothing is left out or cut that would still fit as a whole", () => {
    const costs = sliceCosts("db-engineer", WRAPPED_AT);
    const words = roleWords(aRole());
    fc.assert(
      fc.property(sources, fc.integer({ min: 0, max: 8000 }), (given, bytes) => {
        const cut = given.map((source) => ({ ...source, pieces: cutIntoPieces(source.text) }));
        const used = (shown: readonly ChosenSource[]) =>
          shown.reduce((total, source) => {
            const pieces = source.pieces.reduce((sum, piece) => sum + costs.piece(piece), 0);
            return total + costs.source(source) - costs.firstPieceIsLess + pieces;
          }, 0);
        const { sources: shown } = choosePieces(cut, words, bytes, costs);
        expect(used(shown)).toBeLessThanOrEqual(bytes);
        for (const wanted of choosePieces(cut, words, 1e6, costs).sources) {
          const others = shown.filter(({ file }) => file !== wanted.file);
          const own = shown.find(({ file }) => file === wanted.file)?.pieces ?? [];
          for (const piece of wanted.pieces) {
            if (own.some(({ text }) => text === piece.text)) continue;
            const kept = own.filter(({ firstLine }) => firstLine !== piece.firstLine);
            expect(used([...others, { ...wanted, pieces: [...kept, piece] }])).toBeGreaterThan(bytes);
          }
        }
      }),
      { numRuns: 500 },
    );
  });

  it("each source that says anything has a snippet, or is said to be left out", () => {
    fc.assert(
      fc.property(sources, tokens, (given, max) => {
        const { sources: shown, notes } = slice(given, max);
        for (const { file, text } of given) {
          const there = shown.filter((source) => source.file === file);
          const leftOut = notes.some((note) => note.includes(file) && note.includes("left out"));
          const says = cutIntoPieces(text).length > 0;
          expect(there.length).toBe(says && !leftOut ? 1 : 0);
          if (max >= 400) expect(leftOut).toBe(false);
          for (const { lines } of there) expect(lines.length).toBeGreaterThan(0);
        }
      }),
      { numRuns: 500 },
    );
  });

  it("every text of it stands in the envelope of its source, and all are listed", () => {
    fc.assert(
      fc.property(sources, tokens, (given, max) => {
        const made = slice(given, max);
        const context = made.state_slice.context ?? [];
        expect(isWrapped(made.state_slice)).toBe(true);
        expect(context.map(wrappedSources)).toEqual(made.untrusted_inputs.map(({ source }) => [source]));
        expect(made.untrusted_inputs.every(({ wrapped }) => wrapped)).toBe(true);
      }),
      { numRuns: 500 },
    );
  });
});
