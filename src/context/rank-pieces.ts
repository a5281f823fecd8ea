import { wordsOf } from "../roles/words.ts";
import type { Piece } from "./pieces.ts";
import { stem } from "./role-words.ts";

/** A word in the piece's own heading counts so many times, one in a heading above it fewer. */
const OWN_HEADING = 3;
const HEADING_ABOVE = 1.5;
/** The fifth time that a word stands in a piece says nothing more. */
const MOST_COUNTED = 4;

/**
 * How much each piece has to do with the words, 0 for nothing. A word that stands in few of the pieces tells more
 * than one that stands in most of them.
 *
 * @param weights word (as `stem` gives it) → how much it matters
 */
export function scorePieces(pieces: readonly Piece[], weights: ReadonlyMap<string, number>): number[] {
  const counted = pieces.map(countWords);
  const holding = new Map<string, number>();
  for (const words of counted)
    for (const word of words.keys()) holding.set(word, (holding.get(word) ?? 0) + 1);
  return counted.map((words) => {
    let score = 0;
    for (const [word, count] of words) {
      const weight = weights.get(word) ?? 0;
      if (weight > 0)
        score += weight * Math.sqrt(count) * Math.log(1 + pieces.length / (holding.get(word) ?? 1));
    }
    return score;
  });
}

function countWords({ text, headings }: Piece): Map<string, number> {
  const counts = new Map<string, number>();
  const add = (word: string, times: number, most: number) => {
    const plain = stem(word);
    counts.set(plain, Math.min(most, (counts.get(plain) ?? 0) + times));
  };
  for (const word of wordsOf(text)) add(word, 1, MOST_COUNTED);
  for (const [index, heading] of headings.entries()) {
    const times = index === headings.length - 1 ? OWN_HEADING : HEADING_ABOVE;
    for (const word of wordsOf(heading)) add(word, times, MOST_COUNTED + OWN_HEADING);
  }
  return counts;
}
