import { cutToBytes, type Piece } from "./pieces.ts";
import { scorePieces } from "./rank-pieces.ts";
import type { Costs } from "./slice-text.ts";

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
  /** files that have pieces, of which not even a few words fit */
  leftOut: string[];
  /** files in whose group another is shown, and that have nothing to do with the words */
  unrelated: string[];
};

type Entry = { source: CutSource; piece: Piece; score: number };

/** Bytes; less of a piece says nothing. */
const LEAST_TEXT = 32;

/**
 * The pieces that matter most within a number of bytes, and of every group at least one, cut short where it has to
 * be; where not all groups have room, those that need least. Whatever of them fits as a whole is in, uncut.
 *
 * @param weights word → how much it matters (roleWords)
 */
export function choosePieces(
  sources: readonly CutSource[],
  weights: ReadonlyMap<string, number>,
  bytes: number,
  costs: Costs,
): Choice {
  const ranked = rank(sources, weights);
  const mattering = new Set(ranked.filter(({ score }) => score > 0).map(({ source }) => source));
  const firsts = [...new Set(sources.map(({ group }) => group))].flatMap(
    (group) => ranked.find(({ source }) => source.group === group) ?? [],
  );
  const wanted = ranked.filter((entry) => entry.score > 0 || firsts.includes(entry));

  const shown = new Map<CutSource, Map<Entry, Piece>>();
  let left = bytes;
  const show = ({ entry, piece, cost }: { entry: Entry; piece: Piece; cost: number }) => {
    left -= cost;
    shown.set(entry.source, (shown.get(entry.source) ?? new Map<Entry, Piece>()).set(entry, piece));
  };
  const showIfFits = (entry: Entry, piece: Piece) => {
    const { source } = entry;
    const around = costs.source({ ...source, matters: mattering.has(source) }) - costs.firstPieceIsLess;
    const cost = costs.piece(piece) + (shown.has(source) ? 0 : around);
    if (cost <= left) show({ entry, piece, cost });
  };
  const shownOf = (entry: Entry) => shown.get(entry.source)?.get(entry);
  const lengthen = (entry: Entry, bytesMore: number) => {
    const now = shownOf(entry);
    if (now === undefined || now === entry.piece) return;
    const cost = costs.piece(now);
    const piece = shortened(entry.piece, cost + bytesMore, costs) ?? now;
    show({ entry, piece, cost: costs.piece(piece) - cost });
  };

  const leasts = firsts.map((entry) => {
    const least = leastOf(entry.piece, costs);
    const bytesOfPiece = costs.piece(least);
    const bytesOfAll = bytesOfPiece + costs.source({ ...entry.source, matters: entry.score > 0 });
    return { entry, least, bytesOfAll, bytesMore: costs.piece(entry.piece) - bytesOfPiece };
  });
  for (const { entry, least } of sorted(leasts, ({ bytesOfAll }) => bytesOfAll)) showIfFits(entry, least);
  const cut = sorted(leasts, ({ bytesMore }) => bytesMore).filter(({ entry }) => shownOf(entry));
  for (const [index, { entry }] of cut.entries()) lengthen(entry, Math.floor(left / (cut.length - index)));
  for (const entry of wanted) if (shownOf(entry) === undefined) showIfFits(entry, entry.piece);
  for (const entry of wanted) lengthen(entry, left);

  const missing = sources.filter((source) => source.pieces.length > 0 && !shown.has(source));
  const isWanted = (source: CutSource) => wanted.some((entry) => entry.source === source);
  return {
    sources: sources.flatMap((source) => {
      const pieces = sorted([...(shown.get(source)?.values() ?? [])], ({ firstLine }) => firstLine);
      const { label, file } = source;
      return pieces.length === 0 ? [] : [{ label, file, pieces, matters: mattering.has(source) }];
    }),
    leftOut: missing.filter(isWanted).map(({ file }) => file),
    unrelated: missing.filter((source) => !isWanted(source)).map(({ file }) => file),
  };
}

/** The best first; a stable order, so that of pieces that say nothing the first stands for its source. */
function rank(sources: readonly CutSource[], weights: ReadonlyMap<string, number>): Entry[] {
  const pieces = sources.flatMap((source) => source.pieces.map((piece) => ({ source, piece })));
  const scores = scorePieces(
    pieces.map(({ piece }) => piece),
    weights,
  );
  return sorted(
    pieces.map((entry, index) => ({ ...entry, score: scores[index] ?? 0 })),
    ({ score }) => -score,
  );
}

function leastOf(piece: Piece, costs: Costs): Piece {
  const short = firstWords(piece, LEAST_TEXT);
  return costs.piece(short) < costs.piece(piece) ? short : piece;
}

/** The beginning of a piece that costs at most so much: whole lines, or a part of its first; null if none does. */
function shortened(piece: Piece, most: number, costs: Costs): Piece | null {
  if (costs.piece(piece) <= most) return piece;
  const lines = piece.text.split("\n");
  for (let count = lines.length - 1; count > 0; count--) {
    const text = lines.slice(0, count).join("\n");
    const short = { ...piece, lastLine: piece.firstLine + count - 1, text };
    if (costs.piece(short) <= most) return short;
  }
  for (let size = Buffer.byteLength(lines[0] ?? ""); size > LEAST_TEXT; size = Math.floor(size * 0.9)) {
    const short = firstWords(piece, size);
    if (costs.piece(short) <= most) return short;
  }
  return null;
}

function firstWords(piece: Piece, bytes: number): Piece {
  const [line = ""] = piece.text.split("\n");
  return { ...piece, headings: [], lastLine: piece.firstLine, text: cutToBytes(line, bytes) };
}

function sorted<T>(values: readonly T[], key: (value: T) => number): T[] {
  const keyed = values.map((value) => ({ value, key: key(value) }));
  return keyed.sort((one, other) => one.key - other.key).map(({ value }) => value);
}
