/**
 * Whether `text` is what `pattern` describes: `*` stands for any characters, none included, and with
 * `oneCharacter` a `?` for exactly one. Takes time in proportion to pattern times text, whatever the pattern.
 */
export function wildcardMatches(pattern: string, text: string, oneCharacter = false): boolean {
  let inPattern = 0;
  let inText = 0;
  let star = -1;
  let resume = 0;
  while (inText < text.length) {
    const expected = pattern.charAt(inPattern);
    if (expected === "*") {
      star = inPattern;
      resume = inText;
      inPattern += 1;
    } else if (expected === text.charAt(inText) || (oneCharacter && expected === "?")) {
      inPattern += 1;
      inText += 1;
    } else if (star !== -1) {
      inPattern = star + 1;
      resume += 1;
      inText = resume;
    } else return false;
  }
  return /^\**$/.test(pattern.slice(inPattern));
}

/** Whether everything that `inner` matches is certainly matched by `outer`; a doubt counts as no. */
export function wildcardCovers(outer: string, inner: string): boolean {
  if (outer === inner || outer === "*") return true;
  if (!inner.includes("*")) return wildcardMatches(outer, inner);
  const head = outer.slice(0, -1);
  return outer.endsWith("*") && !head.includes("*") && literalHead(inner).startsWith(head);
}

/** What stands before the first star. */
export function literalHead(pattern: string): string {
  const star = pattern.indexOf("*");
  return star === -1 ? pattern : pattern.slice(0, star);
}
