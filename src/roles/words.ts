/** Scripts that put no space between words. */
const UNSPACED =
  "\\p{Script=Han}\\p{Script=Hiragana}\\p{Script=Katakana}\\u30fc\\p{Script=Hangul}\\p{Script=Thai}\\p{Script=Lao}\\p{Script=Khmer}\\p{Script=Myanmar}";
const RUN = new RegExp(`(?<unspaced>[${UNSPACED}]+)|(?:(?![${UNSPACED}])[\\p{L}\\p{M}\\p{N}])+`, "gu");

/**
 * The words of a text in order, in small letters. `ci/cd`, `next.js` and `json-ld` are two words each. Text of a
 * script without spaces between words gives each pair of neighbouring characters; a script that follows
 * another is parted from it, so `postgresの移行` holds `postgres`.
 */
export function wordsOf(text: string): string[] {
  const words: string[] = [];
  for (const match of text.normalize("NFKC").toLowerCase().matchAll(RUN)) {
    if (match.groups?.unspaced === undefined) words.push(match[0]);
    else words.push(...pairs([...match[0]]));
  }
  return words;
}

function pairs(characters: readonly string[]): string[] {
  if (characters.length < 2) return [...characters];
  return characters.slice(1).map((character, index) => `${characters[index] ?? ""}${character}`);
}
