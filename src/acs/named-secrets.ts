import { isSecretInQuery, isSecretName } from "./secret-name.ts";
import { bracketSpan, lineSpan, type Span, valueSpan } from "./value-span.ts";

/**
 * A name and what stands between it and its value: `TOKEN=`, `"token": `, `'token' => `, `<token>`, `--token `. A
 * run of name characters is tried once, from its start, so that the time stays in proportion to the text.
 */
const NAMED =
  /(?<![\w.-])([\w.-]+)((?:\\*["'`])?(?:\]|%5D)?)(?:[ \t]*(=>|:=|={1,3}|:(?!:)|>|,(?:\s|\\{1,8}[nrt]){0,40})[ \t]*|[ \t]+)/g;

const HEADERS = /^(?:proxy-)?authorization$|^(?:set-)?cookie$/i;

/** What stands behind a name in code and schemas and is no value. */
const NO_VALUE =
  /^(?:any|bool|boolean|false|int|nil|none|null|number|optional|required|str|string|true|undefined|unknown|void)[\],;)}|?]*$/i;

const QUOTE = String.raw`(?:\\{0,8}["'])?`;
const SIGN = String.raw`[ \t]{0,20}[:=][ \t]{0,20}`;

/** A name that is a value itself: `{"name": "TOKEN", "value": "…"}`, in YAML and in XML too. */
const NAMED_BESIDE = new RegExp(
  String.raw`\b(?:field|header|key|name|variable)${QUOTE}${SIGN}${QUOTE}([\w.-]{1,100})${QUOTE}` +
    String.raw`(?:[\s,]|\\{1,8}[nrt]){1,100}${QUOTE}value${QUOTE}${SIGN}`,
  "gi",
);

/** How programs are called that take a secret by a letter; `\nmysql` in an escaped text too. */
const BY_LETTER = [
  /(?:mysql|mariadb)[^\n|;&]{0,300}?\s-p(?=\S)/,
  /sshpass[ \t]{1,5}-p[ \t]{0,5}(?=\S)/,
  /redis-cli\b[^\n|;&]{0,300}?\s-a[ \t]{1,5}(?=\S)/,
  /curl\b[^\n|;&]{0,300}?\s(?:-u|--user)[ \t=]{0,5}(?=["']?[^\s:"'[]{1,200}:)(?!["']?\d{1,9}:\d{1,9}\b)/,
  /login[ \t]{1,20}\S{1,200}\s{1,20}password[ \t]{1,20}(?=\S)/,
].map(({ source }) => new RegExp(String.raw`(?:\b|(?<=\\[nrt]))${source}`, "g"));

/** Replaces values whose name says that they are secrets. */
export function redactNamed(text: string, marker: string): string {
  let clean = text;
  for (const head of BY_LETTER) {
    clean = replaceAfter(clean, head, marker, (match) => valueSpan(match.input, endOf(match)));
  }
  clean = replaceAfter(clean, NAMED_BESIDE, marker, (match) => {
    return isSecretName(match[1] ?? "") ? valueSpan(match.input, endOf(match)) : null;
  });
  return replaceAfter(clean, NAMED, marker, namedValue);
}

function namedValue(match: RegExpExecArray): Span | null {
  const { input: text, index } = match;
  const [, run = "", closing = "", sign] = match;
  const before = text.charAt(index - 1);
  // what an earlier marker says is no name
  if (text.startsWith("[redacted:", index - "[redacted:".length)) return null;
  // in `\nTOKEN=` the n is no part of the name
  const name = before === "\\" && /^[bfnrt]/.test(run) ? run.slice(1) : run;
  if (!isValueSign(sign, { before, closing, name })) return null;
  if (!(/[?&#]/.test(before) ? isSecretInQuery(name) : isSecretName(name))) return null;
  const at = endOf(match);
  if (closing === "" && sign === ":" && HEADERS.test(name)) return lineSpan(text, at, before);
  const standsBefore = sign === undefined || sign.startsWith(",");
  if (standsBefore && /^\\*["']?-/.test(text.slice(at, at + 10))) return null;
  const span = (closing === "" ? null : bracketSpan(text, at)) ?? valueSpan(text, at);
  const isBare = span?.from === at;
  if (span === null || (isBare && span.to - at < 30 && NO_VALUE.test(text.slice(at, span.to)))) return null;
  return span;
}

type Named = { before: string; closing: string; name: string };

/**
 * `token => …` is a function, `"token" => …` a pair; `a > b` compares; only a flag stands before its value bare, or
 * in a list of texts.
 */
function isValueSign(sign: string | undefined, { before, closing, name }: Named): boolean {
  if (sign === undefined) return closing === "" && name.startsWith("-");
  if (sign.startsWith(",")) return closing !== "" && name.startsWith("--");
  if (sign === "=>") return closing !== "" || before === ":";
  return sign !== ">" || before === "<";
}

function replaceAfter(
  text: string,
  head: RegExp,
  marker: string,
  spanOf: (match: RegExpExecArray) => Span | null,
): string {
  let redacted = "";
  let done = 0;
  head.lastIndex = 0;
  for (let match = head.exec(text); match !== null; match = head.exec(text)) {
    const span = spanOf(match);
    if (span === null) continue;
    redacted += text.slice(done, span.from) + marker;
    done = span.to;
    head.lastIndex = span.to;
  }
  return redacted + text.slice(done);
}

function endOf(match: RegExpExecArray): number {
  return match.index + match[0].length;
}
