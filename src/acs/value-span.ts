/** Where a value stands in a text; without the quotes around it. */
export type Span = { from: number; to: number };

const OPENING = /\\*["'`]/y;
const SCHEME = /(?:basic|bearer|digest|token)[ \t]+/iy;
/** A `&` ends a value only where another parameter follows, and a backslash where it escapes a quote. */
const BARE = /(?:[^\s"'`<>&\\]|\\(?!["'`])|&(?![\w.%-]{1,50}=))+/y;

/** A value in quotes, escaped ones too, or up to the next space, quote or tag; null where there is none. */
export function valueSpan(text: string, at: number): Span | null {
  const opening = stickyMatch(OPENING, text, at);
  if (opening !== "") {
    const from = at + opening.length;
    return spanOrNull(from, closingQuote(text, from, opening));
  }
  const scheme = stickyMatch(SCHEME, text, at);
  return spanOrNull(at, at + scheme.length + stickyMatch(BARE, text, at + scheme.length).length);
}

/** A whole JSON object or array; an unclosed one reaches to the end. */
export function bracketSpan(text: string, at: number): Span | null {
  if (text.charAt(at) !== "{" && text.charAt(at) !== "[") return null;
  let depth = 0;
  for (let to = at; to < text.length; to += 1) {
    const char = text.charAt(to);
    if (char === "{" || char === "[") depth += 1;
    else if (char === "}" || char === "]") depth -= 1;
    if (depth === 0) return { from: at, to: to + 1 };
  }
  return { from: at, to: text.length };
}

/** A header's value: the rest of its line, or up to the quote that stands before its name. */
export function lineSpan(text: string, at: number, quote: string): Span | null {
  const end = /["'`]/.test(quote) ? new RegExp(`[${quote}\\r\\n]|\\\\[rn]`, "g") : /[\r\n]|\\[rn]/g;
  end.lastIndex = at;
  let to = end.exec(text)?.index ?? text.length;
  while (to > at && text.charAt(to - 1) === "\\") to -= 1;
  return spanOrNull(at, to);
}

function spanOrNull(from: number, to: number): Span | null {
  return to > from ? { from, to } : null;
}

function stickyMatch(pattern: RegExp, text: string, at: number): string {
  pattern.lastIndex = at;
  return pattern.exec(text)?.[0] ?? "";
}

/** Where the value ends that an opening such as `"` or `\"` begins; an unclosed one reaches to the end. */
function closingQuote(text: string, from: number, opening: string): number {
  const escapes = opening.length - 1;
  const quote = opening.slice(-1);
  for (let at = text.indexOf(quote, from); at !== -1; at = text.indexOf(quote, at + 1)) {
    let before = 0;
    while (at - before > from && text.charAt(at - before - 1) === "\\") before += 1;
    if (escapes === 0 ? before % 2 === 0 : before <= escapes) return at - before;
  }
  return text.length;
}
