/**
 * Reads one line of a transcript, byte by byte and in any number of pieces, for the few members that metering
 * needs. Lines can be tens of megabytes, their members come in any order (the host writes `message` before `type`
 * and `usage` before or after `content`), and the last one may be half written: so what is kept between pieces is
 * small plain data that goes into the spawn's record, and no byte is read twice.
 *
 * It is no JSON validator: a line that does not close what it opened says nothing, and neither does one with
 * something after its object; smaller faults pass. `readTranscript` hands in the bytes; free of Node otherwise.
 */
import { isCount } from "../ledger/shape.ts";
import { type LineFacts, type LineScan, LONGEST_ID, MOST_TOOL_USES } from "./line-scan-state.ts";
import type { Usage } from "./usage.ts";

/** Members whose texts are wanted, by path. */
const TEXTS: Record<string, readonly string[]> = {
  r: ["type", "uuid", "agentId"],
  rm: ["id", "model", "stop_reason"],
  rmcb: ["type", "id"],
};
/** Lengths in bytes of the members that matter: a key of another length need not be decoded. */
const KEY_LENGTHS = new Set(
  [
    ...Object.values(TEXTS).flat(),
    ...["message", "isApiErrorMessage", "content", "usage"],
    ...["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens", "output_tokens"],
  ].map((name) => name.length),
);
/** The path outside the innermost container of a path. */
const AROUND: Record<LineScan["path"], LineScan["path"]> = {
  "": "",
  r: "",
  rm: "r",
  rmu: "rm",
  rmc: "rm",
  rmcb: "rmc",
};
const BUCKETS = new Map<string | null, keyof Usage>([
  ["input_tokens", "input"],
  ["cache_creation_input_tokens", "cacheCreation"],
  ["cache_read_input_tokens", "cacheRead"],
  ["output_tokens", "output"],
]);
/** The one type of line that is read to its end. */
const WHOLE_TYPE = "assistant";

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_BRACE = 0x7b;
const CLOSE_BRACE = 0x7d;
const OPEN_BRACKET = 0x5b;
const CLOSE_BRACKET = 0x5d;
const COMMA = 0x2c;
const COLON = 0x3a;
const SPACE = 0x20;

/** Takes in the bytes from `from` to `to`, which hold no line feed; changes `scan`. */
export function scanBytes(scan: LineScan, bytes: Buffer, from: number, to: number): void {
  let at = from;
  while (at < to && scan.phase !== "over") {
    if (scan.inside === "literal") at = scanLiteral(scan, bytes, at, to);
    else if (scan.inside !== "") at = scanText(scan, bytes, at, to);
    else if (scan.skipped > 0) at = skipContainer(scan, bytes, at, to);
    else at = scanStructure(scan, bytes, at);
  }
}

/** What the line said, once all its bytes are in; null when it is no closed object. */
export function lineFacts(scan: LineScan): LineFacts | null {
  // A line is over before its end when its type is known to be of no interest, and that much is sound.
  if (scan.phase === "over") return scan.facts.type === null ? null : scan.facts;
  return scan.phase === "closed" ? scan.facts : null;
}

function scanStructure(scan: LineScan, bytes: Buffer, at: number): number {
  const byte = bytes[at] ?? SPACE;
  if (byte <= SPACE) return at + 1;
  if (scan.path === "") {
    if (scan.phase === "open" && byte === OPEN_BRACE) enter(scan, "r");
    else reject(scan);
    return at + 1;
  }
  const inObject = scan.path !== "rmc";
  switch (byte) {
    case QUOTE:
      scan.raw = "";
      scan.escaped = false;
      scan.inside = inObject && scan.key === null ? "key" : wantsText(scan) ? "text" : "skipped text";
      break;
    case OPEN_BRACE:
    case OPEN_BRACKET:
      open(scan, byte);
      break;
    case CLOSE_BRACE:
    case CLOSE_BRACKET:
      close(scan, byte);
      break;
    case COMMA:
      scan.key = null;
      break;
    case COLON:
      break;
    default:
      scan.inside = "literal";
      scan.raw = "";
      return at;
  }
  return at + 1;
}

function enter(scan: LineScan, path: LineScan["path"]): void {
  scan.path = path;
  scan.key = null;
}

function open(scan: LineScan, byte: number): void {
  const brace = byte === OPEN_BRACE;
  if (brace && scan.path === "r" && scan.key === "message") enter(scan, "rm");
  else if (brace && scan.path === "rm" && scan.key === "usage") enter(scan, "rmu");
  else if (!brace && scan.path === "rm" && scan.key === "content") enter(scan, "rmc");
  else if (brace && scan.path === "rmc") {
    scan.block = { type: null, id: null };
    enter(scan, "rmcb");
  } else scan.skipped = 1;
}

function close(scan: LineScan, byte: number): void {
  if ((byte === CLOSE_BRACKET) !== (scan.path === "rmc")) {
    reject(scan);
    return;
  }
  if (scan.path === "rmcb") keepBlock(scan);
  scan.path = AROUND[scan.path];
  // Back in the container around, a key comes only after a comma.
  scan.key = "";
  if (scan.path === "") scan.phase = "closed";
}

function keepBlock({ facts, block }: LineScan): void {
  if (block.type === "tool_use" && block.id !== null && facts.toolUses.length < MOST_TOOL_USES) {
    facts.toolUses.push(block.id);
  }
}

function reject(scan: LineScan): void {
  scan.phase = "over";
  scan.facts.type = null;
}

function wantsText(scan: LineScan): boolean {
  return scan.key !== null && (TEXTS[scan.path]?.includes(scan.key) ?? false);
}

function scanText(scan: LineScan, bytes: Buffer, from: number, to: number): number {
  const end = endOfText(scan, bytes, from, to);
  if (scan.inside === "key" && scan.raw === "" && end < to && !KEY_LENGTHS.has(end - from)) {
    scan.inside = "";
    scan.key = "";
    return end + 1;
  }
  if (scan.inside !== "skipped text" && scan.raw.length < LONGEST_ID) {
    scan.raw += bytes.toString("latin1", from, Math.min(end, from + LONGEST_ID - scan.raw.length));
  }
  if (end >= to) return to;
  const { inside } = scan;
  scan.inside = "";
  if (inside === "key") scan.key = meaning(scan.raw);
  else if (inside === "text") keepText(scan, meaning(scan.raw));
  return end + 1;
}

/** The place of the quote that ends a text, or `to`; leaves in `escaped` what the byte at `to` is. */
function endOfText(scan: LineScan, bytes: Buffer, from: number, to: number): number {
  let at = from;
  if (scan.escaped) {
    scan.escaped = false;
    at += 1;
  }
  // Short texts and those full of quotes are quicker byte by byte; long ones by looking for the next quote.
  const near = Math.min(to, at + 64);
  for (; at < near; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at += 1;
  }
  while (at < to) {
    const found = bytes.indexOf(QUOTE, at);
    const end = found < 0 || found > to ? to : found;
    let backslashes = 0;
    while (end - backslashes > at && bytes[end - backslashes - 1] === BACKSLASH) backslashes += 1;
    const even = backslashes % 2 === 0;
    if (end === to) {
      scan.escaped = !even;
      return to;
    }
    if (even) return end;
    at = end + 1;
    for (const next = Math.min(to, at + 64); at < next; at++) {
      const byte = bytes[at];
      if (byte === QUOTE) return at;
      if (byte === BACKSLASH) at += 1;
    }
  }
  scan.escaped = at > to;
  return to;
}

function keepText(scan: LineScan, text: string): void {
  const { facts, key } = scan;
  if (scan.path === "rmcb") {
    if (key === "type") scan.block.type = text;
    else scan.block.id = text;
  } else if (scan.path === "rm") {
    if (key === "id") facts.messageId = text;
    else if (key === "model") facts.model = text;
    else facts.final = true;
  } else if (key === "uuid") facts.uuid = text;
  else if (key === "agentId") facts.agentId = text;
  else {
    facts.type = text;
    if (text !== WHOLE_TYPE) scan.phase = "over";
  }
}

function scanLiteral(scan: LineScan, bytes: Buffer, from: number, to: number): number {
  let end = from;
  while (end < to && !endsLiteral(bytes[end] ?? SPACE)) end += 1;
  const wanted = scan.path === "rmu" || scan.key === "isApiErrorMessage";
  if (wanted && scan.raw.length < LONGEST_ID) {
    scan.raw += bytes.toString("latin1", from, Math.min(end, from + LONGEST_ID - scan.raw.length));
  }
  if (end === to) return to;
  scan.inside = "";
  if (scan.path === "r" && scan.key === "isApiErrorMessage") scan.facts.apiError = scan.raw === "true";
  const bucket = scan.path === "rmu" ? BUCKETS.get(scan.key) : undefined;
  if (bucket !== undefined) scan.facts.usage[bucket] = tokens(scan.raw);
  return end;
}

function endsLiteral(byte: number): boolean {
  return byte <= SPACE || byte === COMMA || byte === CLOSE_BRACE || byte === CLOSE_BRACKET || byte === QUOTE;
}

function skipContainer(scan: LineScan, bytes: Buffer, from: number, to: number): number {
  for (let at = from; at < to; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) {
      scan.inside = "skipped text";
      scan.escaped = false;
      return at + 1;
    }
    if (byte === OPEN_BRACE || byte === OPEN_BRACKET) scan.skipped += 1;
    else if (byte === CLOSE_BRACE || byte === CLOSE_BRACKET) {
      scan.skipped -= 1;
      if (scan.skipped === 0) return at + 1;
    }
  }
  return to;
}

function tokens(raw: string): number {
  try {
    const value: unknown = JSON.parse(raw);
    return isCount(value) ? value : 0;
  } catch {
    return 0;
  }
}

/** The text that the bytes between two quotes stand for. */
function meaning(raw: string): string {
  if (/^[\x20-\x5b\x5d-\x7e]*$/.test(raw)) return raw;
  const text = Buffer.from(raw, "latin1").toString("utf8");
  try {
    return String(JSON.parse(`"${text}"`));
  } catch {
    return text;
  }
}
