import type { YAMLParseError } from "yaml";

const KEY_AND_VALUE = /^\s*(?:- +)?["']?([\w.-]+)["']?:(?:[ \t]+(.*))?$/;
const QUOTE_IT = "quote the whole value, or write it indented under `key: |`";

/**
 * Turns the parser's first error into the line where a person has to change something and what to change
 * there; the parser's own words come last, if none of the usual faults is on that line.
 *
 * @param lines the YAML source by lines; lines[0] is line 1 of the file
 * @param line 1-based, where the parser noticed
 */
export function explainYamlError(
  error: YAMLParseError,
  lines: readonly string[],
  line: number,
): { line: number; message: string } {
  const text = lines[line - 1] ?? "";
  if (error.code === "DUPLICATE_KEY") {
    const key = KEY_AND_VALUE.exec(text)?.[1] ?? text.trim();
    return { line, message: `key \`${key}\` stands more than once; keep one` };
  }
  if (error.code === "TAB_AS_INDENT" || /^\s*\t/.test(text)) {
    return {
      line,
      message: "the line is indented with a tab; YAML takes only spaces, replace it with spaces",
    };
  }
  if (error.code === "MULTIPLE_DOCS") {
    return {
      line,
      message: "a line `...` ends the YAML and hides the keys after it; remove it",
    };
  }
  const opened = error.code === "MISSING_CHAR" ? openedQuote(lines) : null;
  if (opened !== null) return opened;

  const [, key, value] = KEY_AND_VALUE.exec(text) ?? [];
  const fault = value === undefined ? null : faultOfValue(value);
  if (key !== undefined && fault !== null) return { line, message: `value of \`${key}\` ${fault}` };
  if (error.code === "BLOCK_AS_IMPLICIT_KEY") {
    const below = lines.findIndex((next, index) => index >= line && /^\s+\S.*:(\s|$)/.test(next));
    if (below !== -1) {
      return {
        line: below + 1,
        message: `a value that began above has an unquoted \`: \` here; ${QUOTE_IT}`,
      };
    }
  }
  if (key === undefined && /^\S/.test(text)) {
    return {
      line,
      message: `${JSON.stringify(text.slice(0, 40))} is no \`key: value\`; indent the lines of a value under \`key: |\``,
    };
  }
  return {
    line,
    message: `YAML cannot be read: ${firstLine(error.message)}; mend the line, or quote the value if it is text`,
  };
}

function faultOfValue(value: string): string | null {
  const sign = value.charAt(0);
  if (sign === '"' || sign === "'") {
    return `opens with ${sign} and goes on after the closing one; ${QUOTE_IT}`;
  }
  if (sign === "*" || /^\[(.*[\s,])?\*/.test(value)) {
    return 'has an unquoted `*`, which YAML reads as an alias; quote it: "*"';
  }
  if (sign === "[" || sign === "{") return faultOfFlow(value, sign === "[" ? "]" : "}");
  if (/:(\s|$)/.test(value)) return `has an unquoted \`: \`; ${QUOTE_IT}`;
  if (/^[\]}&!|>%@`,?-]/.test(value)) {
    return `opens with the character ${sign}, which means something else in YAML; ${QUOTE_IT}`;
  }
  return null;
}

/** Quoting would not mend a list with a slip in it, only a text that happens to begin with a bracket. */
function faultOfFlow(value: string, close: string): string | null {
  const at = value.lastIndexOf(close);
  if (at === -1) return `opens with ${value.charAt(0)} and never closes it; add the ${close}`;
  const after = value.slice(at + 1).trim();
  return after === "" ? null : `opens with ${value.charAt(0)} and goes on after the ${close}; ${QUOTE_IT}`;
}

/** The parser notices a quote that is never closed only at the end of the block; the fault is where it opened. */
function openedQuote(lines: readonly string[]): { line: number; message: string } | null {
  for (const [index, text] of lines.entries()) {
    const [, key, value] = KEY_AND_VALUE.exec(text) ?? [];
    const quote = value?.[0];
    if (quote !== '"' && quote !== "'") continue;
    if (value?.indexOf(quote, 1) !== -1) continue;
    return {
      line: index + 1,
      message: `value of \`${key}\` opens with ${quote} and never closes it; close the quote`,
    };
  }
  return null;
}

function firstLine(message: string): string {
  return message.split("\n")[0] ?? message;
}
