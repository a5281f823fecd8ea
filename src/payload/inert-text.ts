const UNSAFE_IN_JSON = /[<>&\u2028\u2029]/g;

/**
 * JSON that no markup around it can be closed or opened by: `<`, `>`, `&` and the two line separators
 * U+2028 and U+2029 are written as \u escapes. It parses to the same value.
 */
export function inertJson(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replace(
    UNSAFE_IN_JSON,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}

const OUR_TAG =
  /<(?=[\s/]*(?:spawn_payload|return_contract|untrusted_content|subagent_spawn_(?:result|error))\b)/giu;

/** Text for people and models in which nothing looks like a tag of ours: `<` of such a tag becomes `&lt;`. */
export function withoutOurTags(text: string): string {
  return text.replace(OUR_TAG, "&lt;");
}

/** Text that stands inside markup as data: every `<`, `>`, `&` and `"` is an entity. */
export function asMarkupText(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}

/** The same for content between tags: quotes stay, and signs that normalise to angle brackets are entities too. */
export function asEnvelopeText(text: string): string {
  return text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replace(/[\ufe64\ufe65\uff1c\uff1e]/g, (sign) => `&#x${sign.charCodeAt(0).toString(16)};`);
}
