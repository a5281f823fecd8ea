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

/** In an escaped text a program may stand behind `\n`. */
const program = (name: string) => new RegExp(String.raw`(?:\b|(?<=\\[nrt]))${name}`, "g");
const ENDS_COMMAND = /^[\n|;&]$/;
/** What ends a command, or a letter in it that a secret stands behind. */
const letter = (source: string) => new RegExp(String.raw`[\n|;&]|${source}`, "g");

/** How programs are called that take a secret by a letter, anywhere in the command and as often as it comes. */
const BY_LETTER = [
  { program: program("(?:mysql|mariadb)"), letter: letter(String.raw`\s-p(?=\S)`) },
  { program: program(String.raw`redis-cli\b`), letter: letter(String.raw`\s-a[ \t]{1,5}(?=\S)`) },
  {
    program: program(String.raw`curl\b`),
    letter: letter(
      String.raw`\s(?:-u|--user)[ \t=]{0,5}(?=["']?[^\s:"'[]{1,200}:)(?!["']?\d{1,9}:\d{1,9}\b)`,
    ),
  },
];

/** The same, of which the secret is the first or second word. */
const BY_PLACE = [
  program(String.raw`sshpass[ \t]{1,5}-p[ \t]{0,5}(?=\S)`),
  program(String.raw`login[ \t]{1,20}\S{1,200}\s{1,20}password[ \t]{1,20}(?=\S)`),
];

/** Replaces values whose name says that they are secrets. */
export function redactNamed(text: string, marker: string): string {
  let clean = text;
  for (const caller of BY_LETTER) clean = replaceSpans(clean, spansByLetter(clean, caller), marker);
  for (const head of BY_PLACE) clean = replaceSpans(clean, spansAfter(clean, head, valueAfter), marker);
  clean = replaceSpans(clean, spansAfter(clean, NAMED_BESIDE, valueBeside), marker);
  return replaceSpans(clean, spansAfter(clean, NAMED, namedValue), marker);
}

const valueAfter = (match: RegExpExecArray) => valueSpan(match.input, endOf(match));
const valueBeside = (match: RegExpExecArray) => (isSecretName(match[1] ?? "") ? valueAfter(match) : null);

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

function* spansByLetter(text: string, { program, letter }: (typeof BY_LETTER)[number]): Generator<Span> {
  program.lastIndex = 0;
  for (let start = program.exec(text); start !== null; start = program.exec(text)) {
    letter.lastIndex = endOf(start);
    let match = letter.exec(text);
    for (; match !== null && !ENDS_COMMAND.test(match[0]); match = letter.exec(text)) {
      const span = valueAfter(match);
      if (span === null) continue;
      yield span;
      letter.lastIndex = span.to;
    }
    if (match === null) return;
    program.lastIndex = endOf(match);
  }
}

function* spansAfter(
  text: string,
  head: RegExp,
  spanOf: (match: RegExpExecArray) => Span | null,
): Generator<Span> {
  head.lastIndex = 0;
  for (let match = head.exec(text); match !== null; match = head.exec(text)) {
    const span = spanOf(match);
    if (span === null) continue;
    yield span;
    head.lastIndex = span.to;
  }
}

/** Spans in order, none within another. */
function replaceSpans(text: string, spans: Iterable<Span>, marker: string): string {
  let redacted = "";
  let done = 0;
  for (const { from, to } of spans) {
    redacted += text.slice(done, from) + marker;
    done = to;
  }
  return redacted + text.slice(done);
}

function endOf(match: RegExpExecArray): number {
  return match.index + match[0].length;
}
