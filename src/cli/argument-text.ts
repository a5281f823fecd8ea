export type SplitArguments = { ok: true; argv: string[] } | { ok: false; problem: string };

/** What a backslash takes away the meaning of inside double quotes (POSIX Shell Command Language 2.2.3). */
const ESCAPED_IN_DOUBLE_QUOTES = '"\\$`';

/**
 * Splits the raw text after a command into arguments by the quoting rules of a POSIX shell, and by
 * nothing else of it: there is no expansion, and `$(x)`, backticks, `;`, `|`, `*`, `~` and `#` are text.
 * Spaces, tabs and line ends outside quotes separate. Positions in problems count characters from 1.
 */
export function splitArguments(text: string): SplitArguments {
  const argv: string[] = [];
  /** the argument so far; null between arguments, so that '' is an argument */
  let word: string | null = null;
  let at = 0;
  while (at < text.length) {
    const character = text.charAt(at);
    if (/[ \t\r\n]/.test(character)) {
      if (word !== null) argv.push(word);
      word = null;
      at++;
    } else if (character === "'" || character === '"') {
      const quoted = character === "'" ? singleQuoted(text, at) : doubleQuoted(text, at);
      if (quoted === null) return { ok: false, problem: unclosed(text, at, character) };
      word = (word ?? "") + quoted.text;
      at = quoted.next;
    } else if (character === "\\") {
      if (at + 1 === text.length)
        return { ok: false, problem: "the text ends with a backslash; remove or double it" };
      const escaped = lineEnd(text, at + 1);
      // A backslash before a line end joins the lines.
      if (escaped === 0) word = (word ?? "") + text.charAt(at + 1);
      at += escaped === 0 ? 2 : 1 + escaped;
    } else {
      word = (word ?? "") + character;
      at++;
    }
  }
  if (word !== null) argv.push(word);
  return { ok: true, argv };
}

type Quoted = { text: string; next: number };

function singleQuoted(text: string, start: number): Quoted | null {
  const end = text.indexOf("'", start + 1);
  return end === -1 ? null : { text: text.slice(start + 1, end), next: end + 1 };
}

function doubleQuoted(text: string, start: number): Quoted | null {
  let inside = "";
  for (let at = start + 1; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === '"') return { text: inside, next: at + 1 };
    const after = text.charAt(at + 1);
    if (character !== "\\") {
      inside += character;
    } else if (after !== "" && ESCAPED_IN_DOUBLE_QUOTES.includes(after)) {
      inside += after;
      at++;
    } else if (lineEnd(text, at + 1) > 0) {
      at += lineEnd(text, at + 1);
    } else {
      inside += character;
    }
  }
  return null;
}

/** UTF-16 units of the line end that starts here: 1 for LF, 2 for CRLF, 0 for none. */
function lineEnd(text: string, at: number): number {
  if (text.charAt(at) === "\n") return 1;
  return text.startsWith("\r\n", at) ? 2 : 0;
}

function unclosed(text: string, at: number, quote: string): string {
  const name = quote === "'" ? "single" : "double";
  const position = Array.from(text.slice(0, at)).length + 1;
  // No backslash takes a quote's meaning away inside single quotes.
  const instead =
    quote === "'" ? "put a text with ' in it between double quotes" : 'write \\" for the character itself';
  return `the ${name} quote at character ${position} is never closed; close it, or ${instead}`;
}
