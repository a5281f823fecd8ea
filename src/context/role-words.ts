import type { Role } from "../roles/role.ts";
import { ROLE_TABLE } from "../roles/role-table.generated.js";
import { wordsOf } from "../roles/words.ts";

/** A stack word says most; a part of several words (`api docs`) and a word of the description say less. */
const STACK_WORD = 4;
const PART_OF_WORDS = 2;
const DESCRIPTION_WORD = 1;

/** Words of descriptions that are in every text. */
const COMMON = new Set(
  "a about above after all also an and any are as at be before below between but by can do does each every for from has have how if in into is it its made make more most need no not of on one only or other our out over own so such task than that the their them then there these they this to under use used user using what when where which while who will with within without work you your".split(
    " ",
  ),
);

/** The words that matter to a role, with how much: those of its row in the role-selection table and its description's. */
export function roleWords(role: Role): Map<string, number> {
  const weights = new Map<string, number>();
  const add = (word: string, weight: number) => {
    const plain = stem(word);
    if (!COMMON.has(word) && word.length > 1) weights.set(plain, Math.max(weight, weights.get(plain) ?? 0));
  };
  for (const word of wordsOf(role.description)) add(word, DESCRIPTION_WORD);
  const row = ROLE_TABLE.find((candidate) => candidate.role === role.name);
  for (const phrase of [...(row?.words ?? []), ...(row?.also ?? [])]) {
    const words = wordsOf(phrase);
    for (const word of words) add(word, words.length === 1 ? STACK_WORD : PART_OF_WORDS);
  }
  return weights;
}

/** A word without its English plural, so that `queries` meets `query`. */
export function stem(word: string): string {
  if (word.length < 4 || word.endsWith("ss")) return word;
  return word
    .replace(/ies$/, "y")
    .replace(/(x|ch|sh)es$/, "$1")
    .replace(/s$/, "");
}
