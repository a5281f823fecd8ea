import { asEnvelopeText } from "../payload/inert-text.ts";
import { cutToBytes, type Piece } from "./pieces.ts";
import { scorePieces } from "./rank-pieces.ts";

/** A source cut into pieces. Of each group at least one piece is shown; a file of the project is its own. */
export type CutSource = { label: string; file: string; group: string; pieces: Piece[] };

export type ChosenSource = {
  label: string;
  file: string;
  /** in the order of their lines */
  pieces: Piece[];
  /** false where nothing in it has to do with the words, and its beginning stands for it */
  matters: boolean;
};

export type Choice = {
  sources: ChosenSource[];
  /** groups of which not even a few words fit */
  leftOut: string[];
};

type Entry = { source: CutSource; piece: Piece; score: number };

/** Bytes of what stands around: of a source its envelope and its line in the list of sources, of a piece its range there. */
const AROUND_SOURCE = 130;
const AROUND_PIECE = 20;
/** Bytes; less of a piece says nothing. */
const LEAST_TEXT = 32;

/**
 * The pieces that matter most within a number of bytes, and of every group at least one, cut short where it has to
 * be. The last groups are left out where there is no room for a few words of each.
 *
 * @param weights word → how much it matters (roleWords)
 */
export function choosePieces(
  sources: readonly CutSource[],
  weights: ReadonlyMap<string, number>,
  bytes: number,
): Choice {
  const pieces = sources.flatMap((source) => source.pieces.map((piece) => ({ source, piece })));
  const scores = scorePieces(
    pieces.map(({ piece }) => piece),
    weights,
  );
  // A stable order: of pieces that say nothing the first stands for its source.
  const ranked = pieces
    .map((entry, index): Entry => ({ ...entry, score: scores[index] ?? 0 }))
    .sort((one, other) => other.score - one.score);

  const { firsts, leftOut } = fittingFirsts(sources, ranked, bytes);
  const chosen = new Map<CutSource, Piece[]>();
  let left = bytes - sum(firsts.map(({ source }) => sourceCost(source)));
  const take = (source: CutSource, piece: Piece) => {
    left -= pieceCost(piece);
    chosen.set(source, [...(chosen.get(source) ?? []), piece]);
  };
  const byCost = [...firsts].sort((one, other) => pieceCost(one.piece) - pieceCost(other.piece));
  for (const [index, { source, piece }] of byCost.entries())
    take(source, shortened(piece, Math.floor(left / (byCost.length - index))));
  for (const entry of ranked) {
    const { source, piece, score } = entry;
    if (score === 0 || firsts.includes(entry) || leftOut.includes(source.group)) continue;
    const around = chosen.has(source) ? 0 : sourceCost(source);
    if (pieceCost(piece) + around > left) continue;
    left -= around;
    take(source, piece);
  }
  const matters = (source: CutSource) => ranked.some((entry) => entry.source === source && entry.score > 0);
  return {
    leftOut,
    sources: sources.flatMap((source) => {
      const shown = chosen.get(source)?.sort((one, other) => one.firstLine - other.firstLine);
      if (shown === undefined) return [];
      return [{ label: source.label, file: source.file, pieces: shown, matters: matters(source) }];
    }),
  };
}

/** The best piece of each group, as many groups as there is room for. */
function fittingFirsts(sources: readonly CutSource[], ranked: readonly Entry[], bytes: number) {
  const groups = [...new Set(sources.map(({ group }) => group))];
  const firsts = groups.flatMap((group) => ranked.find(({ source }) => source.group === group) ?? []);
  const leftOut: string[] = [];
  while (sum(firsts.map(({ source }) => sourceCost(source) + AROUND_PIECE + LEAST_TEXT)) > bytes) {
    const last = firsts.pop();
    if (last === undefined) break;
    leftOut.unshift(last.source.group);
  }
  return { firsts, leftOut };
}

/** A piece as it stands in its envelope: where it comes from, then its lines. */
export function pieceText({ firstLine, lastLine, headings, text }: Piece): string {
  const under = headings.slice(0, -1).join(" > ");
  return `[lines ${firstLine}-${lastLine}${under === "" ? "" : `, under ${cutToBytes(under, 120)}`}]\n${text}`;
}

function sourceCost({ label, file }: { label: string; file: string }): number {
  return (
    AROUND_SOURCE + 2 * Buffer.byteLength(asEnvelopeText(label)) + Buffer.byteLength(asEnvelopeText(file))
  );
}

function pieceCost(piece: Piece): number {
  return AROUND_PIECE + Buffer.byteLength(asEnvelopeText(pieceText(piece)));
}

/** The beginning of a piece that costs at most so much: whole lines, or a part of its first. */
function shortened(piece: Piece, most: number): Piece {
  if (pieceCost(piece) <= most) return piece;
  const lines = piece.text.split("\n");
  const upTo = (count: number): Piece => {
    return { ...piece, lastLine: piece.firstLine + count - 1, text: lines.slice(0, count).join("\n") };
  };
  for (let count = lines.length - 1; count > 0; count--)
    if (pieceCost(upTo(count)) <= most) return upTo(count);
  const bare = { ...upTo(1), headings: [] };
  for (let size = Buffer.byteLength(bare.text) - 1; size > 0; size = Math.floor(size * 0.9)) {
    const short = { ...bare, text: cutToBytes(bare.text, size) };
    if (pieceCost(short) <= most) return short;
  }
  return { ...bare, text: "" };
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
