/**
 * What a subagent has used, from the messages of its transcript (DESIGN "Budgets"; cases 12, 63, 101, 102, 104).
 * Pure and free of Node.
 *
 * The host writes a message on several lines, one a content block, with the same id and, on older versions, with
 * growing usage. So the last few messages stay open: each bucket of theirs is the maximum over their lines, and
 * totals are computed from them. A message that is pushed out of this window is settled: its tokens move into
 * sums, and only a fingerprint of its id remains, by which a copy of it is known and counts nothing.
 */
import { hasShape, isCount } from "../ledger/shape.ts";
import { FINGERPRINT, fingerprint, hasFingerprint, isFingerprints } from "./fingerprint.ts";

/** Tokens of one request and its response. */
export type Usage = { input: number; cacheCreation: number; cacheRead: number; output: number };

/** What one line of a transcript says of a message of the model. */
export type MessageLine = {
  /** the message's id, or the line's uuid where it has none (case 104) */
  id: string;
  usage: Usage;
  /** it has a stop reason, so its usage is final */
  final: boolean;
  /** ids of the tool calls on this line */
  toolUses: readonly string[];
};

/** Lines of one message may stand among lines of this many newer ones, less one. */
const OPEN_MESSAGES = 4;
/** Settled messages that a copy is known by; the payload allows 50 turns. */
const REMEMBERED = 256;
/** Tool calls of one message that are told from their repetition. */
const TOOLS_REMEMBERED = 128;

type OpenMessage = Usage & {
  key: string;
  final: boolean;
  /** fingerprints of its tool calls */
  tools: string;
  toolUses: number;
};

/** The last request before the open messages: tokens of its context and of what was answered since. */
type Before = { context: number; output: number };

export type UsageMeter = {
  /** size of the spawn's prompt */
  promptTokens: number;
  /** sums over the settled messages; `input` is without the prompt */
  settled: UsageSums;
  before: Before | null;
  /** oldest first */
  open: readonly OpenMessage[];
  /** fingerprints of the last settled messages, oldest first */
  seen: string;
  /** settled messages whose fingerprint was dropped */
  forgotten: number;
  /** unknown messages still to be taken for forgotten ones; see `replayed` */
  replaying: number;
};

type UsageSums = { messages: number; input: number; output: number; toolUses: number };

export type UsageTotals = UsageSums & {
  /** what counts against the session's cap: input used and output, in tokens */
  tokens: number;
};

export function newMeter(promptTokens: number): UsageMeter {
  return {
    promptTokens: isCount(promptTokens) ? promptTokens : 0,
    settled: { messages: 0, input: 0, output: 0, toolUses: 0 },
    before: null,
    open: [],
    seen: "",
    forgotten: 0,
    replaying: 0,
  };
}

/** The meter after one more line. The same line again, or an older state of the same message, changes nothing. */
export function addLine(meter: UsageMeter, line: MessageLine): UsageMeter {
  const key = fingerprint(line.id);
  const at = meter.open.findIndex((message) => message.key === key);
  const known = meter.open[at];
  if (known !== undefined) {
    return { ...meter, open: meter.open.with(at, grown(known, line, meter.open)), replaying: 0 };
  }
  if (hasFingerprint(meter.seen, key)) return meter.replaying > 0 ? { ...meter, replaying: 0 } : meter;
  if (meter.replaying > 0) return { ...meter, replaying: meter.replaying - 1 };
  const fresh = { ...NOTHING, key, final: false, tools: "", toolUses: 0 };
  return settle({ ...meter, open: [...meter.open, grown(fresh, line, meter.open)] });
}

/**
 * The meter before its file is read again from the start, because it was replaced. Messages that it knows count
 * nothing again. Of a spawn with more messages than are remembered, as many unknown ones as were forgotten are
 * passed over: until one that it knows: exact where the old content is still there, too little where it is not.
 */
export function replayed(meter: UsageMeter): UsageMeter {
  return { ...meter, replaying: meter.forgotten };
}

/**
 * What was used so far. While the spawn runs (`ended` false) this is never above what it will come to: the step
 * after an open message that has no stop reason yet waits, since that message's own usage may still grow. An
 * older host that never writes one is behind by the open messages.
 */
export function usageTotals(meter: UsageMeter, ended: boolean): UsageTotals {
  let { messages, input, output, toolUses } = meter.settled;
  let before = meter.before;
  let sure = true;
  for (const message of meter.open) {
    const step = stepFrom(before, message);
    if (sure || ended) input = plus(input, step.input);
    // A message without any context says nothing of the request, so the doubt about the one before it stays.
    sure = message.final && (sure || contextOf(message) > 0);
    before = step.before;
    messages += 1;
    output = plus(output, message.output);
    toolUses += message.toolUses;
  }
  if (messages > 0) input = plus(input, meter.promptTokens);
  return { messages, input, output, toolUses, tokens: plus(input, output) };
}

/** The tokens that a request sends: input + cache creation + cache read, the same with and without caching. */
export function contextOf(usage: Usage): number {
  return plus(plus(usage.input, usage.cacheCreation), usage.cacheRead);
}

export function isMeter(value: unknown): value is UsageMeter {
  return hasShape(value, METER);
}

const NOTHING: Usage = { input: 0, cacheCreation: 0, cacheRead: 0, output: 0 };

function grown(message: OpenMessage, line: MessageLine, open: readonly OpenMessage[]): OpenMessage {
  let { tools, toolUses } = message;
  for (const id of line.toolUses) {
    const tool = fingerprint(id);
    if (hasFingerprint(tools, tool) || open.some((other) => hasFingerprint(other.tools, tool))) continue;
    toolUses += 1;
    if (tools.length < TOOLS_REMEMBERED * FINGERPRINT) tools += tool;
  }
  return {
    key: message.key,
    input: Math.max(message.input, count(line.usage.input)),
    cacheCreation: Math.max(message.cacheCreation, count(line.usage.cacheCreation)),
    cacheRead: Math.max(message.cacheRead, count(line.usage.cacheRead)),
    output: Math.max(message.output, count(line.usage.output)),
    final: message.final || line.final,
    tools,
    toolUses,
  };
}

/** Moves the oldest open message into the sums when there is one too many. */
function settle(meter: UsageMeter): UsageMeter {
  const [oldest, ...open] = meter.open;
  if (oldest === undefined || open.length < OPEN_MESSAGES) return meter;
  const { settled } = meter;
  const step = stepFrom(meter.before, oldest);
  const full = meter.seen.length >= REMEMBERED * FINGERPRINT;
  return {
    ...meter,
    settled: {
      messages: settled.messages + 1,
      input: plus(settled.input, step.input),
      output: plus(settled.output, oldest.output),
      toolUses: settled.toolUses + oldest.toolUses,
    },
    before: step.before,
    open,
    seen: (full ? meter.seen.slice(FINGERPRINT) : meter.seen) + oldest.key,
    forgotten: meter.forgotten + (full ? 1 : 0),
  };
}

/**
 * What a request added to the context: max(0, context - previous context - previous output). The first one adds
 * nothing here: the prompt is counted by its size, and the rest is the host's own baseline. A message without any
 * context (a line without usage) is no request to measure from.
 */
function stepFrom(before: Before | null, message: Usage): { input: number; before: Before | null } {
  const context = contextOf(message);
  if (context === 0) {
    return {
      input: 0,
      before: before && { context: before.context, output: plus(before.output, message.output) },
    };
  }
  const input = before === null ? 0 : Math.max(0, context - before.context - before.output);
  return { input, before: { context, output: message.output } };
}

/** A number of tokens as a transcript gives it: what is no whole number from 0 counts as 0 (case 70). */
function count(value: unknown): number {
  return isCount(value) ? value : 0;
}

/** Sums stay whole numbers whatever a transcript says, so that a state can always be read back. */
function plus(a: number, b: number): number {
  return Math.min(a + b, Number.MAX_SAFE_INTEGER);
}

const SUMS = { messages: isCount, input: isCount, output: isCount, toolUses: isCount };
const BEFORE = { context: isCount, output: isCount };
const OPEN = {
  key: (value: unknown) => isFingerprints(value, 1) && value !== "",
  input: isCount,
  cacheCreation: isCount,
  cacheRead: isCount,
  output: isCount,
  final: (value: unknown) => typeof value === "boolean",
  tools: (value: unknown) => isFingerprints(value, TOOLS_REMEMBERED),
  toolUses: isCount,
};
const METER: Record<keyof UsageMeter, (value: unknown) => boolean> = {
  promptTokens: isCount,
  settled: (value) => hasShape(value, SUMS),
  before: (value) => value === null || hasShape(value, BEFORE),
  open: (value) =>
    Array.isArray(value) &&
    value.length <= OPEN_MESSAGES &&
    value.every((message) => hasShape(message, OPEN)),
  seen: (value) => isFingerprints(value, REMEMBERED),
  forgotten: isCount,
  replaying: isCount,
};
