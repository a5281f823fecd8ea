import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { lineFacts, scanBytes } from "../../../src/transcript/line-scan.ts";
import { newLineScan } from "../../../src/transcript/line-scan-state.ts";
import { readTranscript } from "../../../src/transcript/read-transcript.ts";
import {
  decodeTranscriptState,
  newTranscriptState,
  type TranscriptState,
} from "../../../src/transcript/transcript-state.ts";
import {
  addLine,
  type MessageLine,
  newMeter,
  replayed,
  type Usage,
  type UsageMeter,
  usageTotals,
} from "../../../src/transcript/usage.ts";
import { ended, folder, joined, messageLine, readAll, userLine } from "../../unit/transcript/lines.ts";

const tokens = fc.integer({ min: 0, max: 10_000 });
const prompt = fc.nat(1000);
const usage: fc.Arbitrary<Usage> = fc.record({
  input: tokens,
  cacheCreation: tokens,
  cacheRead: tokens,
  output: tokens,
});
const requests = fc.array(usage, { minLength: 1, maxLength: 40 });

function line(at: number, used: Usage, final = true): MessageLine {
  return { id: `msg_${at}`, usage: used, final, toolUses: [`toolu_${at}`] };
}

function metered(lines: readonly MessageLine[], meter: UsageMeter): UsageMeter {
  return lines.reduce(addLine, meter);
}

/** DESIGN's formula, plainly. */
function truth(all: readonly Usage[], promptTokens: number) {
  const sent = all.filter((one) => context(one) > 0);
  let input = promptTokens;
  for (const [at, one] of sent.entries()) {
    const before = sent[at - 1];
    if (before !== undefined) input += Math.max(0, context(one) - context(before) - before.output);
  }
  return { input, output: all.reduce((sum, one) => sum + one.output, 0) };
}

function context(one: Usage): number {
  return one.input + one.cacheCreation + one.cacheRead;
}

/** Some smaller usage of each message, then its own; the last line alone is final. */
const growing = fc
  .array(
    fc.record({
      last: usage.map((one) => ({ ...one, input: one.input + 1 })),
      parts: fc.array(part(), { maxLength: 3 }),
    }),
    {
      minLength: 1,
      maxLength: 12,
    },
  )
  .map((messages) =>
    messages.map(({ last, parts }, at) => [
      ...parts.map((of) => line(at, scaled(last, of), false)),
      line(at, last),
    ]),
  );

function part(): fc.Arbitrary<Usage> {
  const share = fc.double({ min: 0, max: 1, noNaN: true });
  return fc.record({ input: share, cacheCreation: share, cacheRead: share, output: share });
}

function scaled(one: Usage, by: Usage): Usage {
  return {
    input: Math.floor(one.input * by.input),
    cacheCreation: Math.floor(one.cacheCreation * by.cacheCreation),
    cacheRead: Math.floor(one.cacheRead * by.cacheRead),
    output: Math.floor(one.output * by.output),
  };
}

/** The messages' lines mixed, but for the first of each, and at most three messages deep. */
const interleaved = fc.tuple(growing, fc.infiniteStream(fc.nat(2))).map(([messages, picks]) => {
  const waiting = messages.map((lines) => [...lines]);
  const out: MessageLine[] = [];
  let begun = 0;
  for (;;) {
    const open = waiting.slice(0, begun).filter((lines) => lines.length > 0);
    const next = begun < waiting.length && open.length < 3;
    if (!next && open.length === 0) return { messages, out };
    const pick = picks.next().value ?? 0;
    // A message that is four back would be settled: its lines come first.
    const oldest = waiting.slice(0, Math.max(0, begun - 3)).find((lines) => lines.length > 0);
    const from =
      oldest ?? (next && pick >= open.length ? waiting[begun] : open[pick % Math.max(1, open.length)]);
    if (from === waiting[begun]) begun += 1;
    const taken = from?.shift();
    if (taken !== undefined) out.push(taken);
  }
});

describe("metering", () => {
  it("is DESIGN's formula", () => {
    fc.assert(
      fc.property(requests, prompt, (all, promptTokens) => {
        const meter = metered(
          all.map((one, at) => line(at, one)),
          newMeter(promptTokens),
        );
        expect(usageTotals(meter, true)).toMatchObject(truth(all, promptTokens));
        expect(usageTotals(meter, true)).toMatchObject({ messages: all.length, toolUses: all.length });
      }),
    );
  });

  it("takes the largest usage of each message, however their lines are mixed", () => {
    fc.assert(
      fc.property(interleaved, prompt, ({ messages, out }, promptTokens) => {
        const last = messages.flatMap((lines) => lines.at(-1)?.usage ?? []);
        expect(usageTotals(metered(out, newMeter(promptTokens)), true)).toMatchObject({
          ...truth(last, promptTokens),
          messages: messages.length,
          toolUses: messages.length,
        });
      }),
    );
  });

  it("is never above the final truth while lines are still to come, and never goes down", () => {
    fc.assert(
      fc.property(interleaved, prompt, ({ messages, out }, promptTokens) => {
        const last = truth(
          messages.flatMap((lines) => lines.at(-1)?.usage ?? []),
          promptTokens,
        );
        let meter = newMeter(promptTokens);
        let output = 0;
        for (const one of out) {
          meter = addLine(meter, one);
          const running = usageTotals(meter, false);
          expect(running.input).toBeLessThanOrEqual(last.input);
          expect(running.output).toBeLessThanOrEqual(last.output);
          expect(running.output).toBeGreaterThanOrEqual(output);
          output = running.output;
        }
        expect(usageTotals(meter, false)).toEqual(usageTotals(meter, true));
      }),
      { numRuns: 500 },
    );
  });

  it("does not ask what came from the cache", () => {
    const cut = fc.tuple(
      tokens,
      fc.double({ min: 0, max: 1, noNaN: true }),
      fc.double({ min: 0, max: 1, noNaN: true }),
      tokens,
    );
    fc.assert(
      fc.property(fc.array(cut, { maxLength: 20 }), (all) => {
        const plain = all.map(([size, , , output], at) =>
          line(at, { input: size, cacheCreation: 0, cacheRead: 0, output }),
        );
        const cached = all.map(([size, read, created, output], at) => {
          const cacheRead = Math.floor(size * read);
          const cacheCreation = Math.floor((size - cacheRead) * created);
          return line(at, { input: size - cacheRead - cacheCreation, cacheCreation, cacheRead, output });
        });
        expect(usageTotals(metered(cached, newMeter(5)), true)).toEqual(
          usageTotals(metered(plain, newMeter(5)), true),
        );
      }),
    );
  });

  it("undercounts by at most the step at which the context was compacted", () => {
    const step = fc.record({ added: tokens, output: tokens });
    fc.assert(
      fc.property(fc.array(step, { minLength: 2, maxLength: 20 }), fc.nat(), tokens, (steps, pick, kept) => {
        const compacted = 1 + (pick % (steps.length - 1));
        let size = 20_000;
        const all = steps.map(({ added, output }, at) => {
          const before = steps[at - 1]?.output ?? 0;
          size = at === compacted ? Math.min(kept, size) + added : size + before + added;
          return line(at, { input: size, cacheCreation: 0, cacheRead: 0, output });
        });
        const real = steps.slice(1).reduce((sum, { added }) => sum + added, 0);
        const missing = real - usageTotals(metered(all, newMeter(0)), true).input;
        expect(missing).toBeGreaterThanOrEqual(0);
        expect(missing).toBeLessThanOrEqual(steps[compacted]?.added ?? 0);
      }),
    );
  });

  it("counts what it knows no second time, from wherever it is read again", () => {
    const many = fc.array(usage, { minLength: 1, maxLength: 700 });
    fc.assert(
      fc.property(many, fc.nat(), (all, end) => {
        const lines = all.map((one, at) => line(at, one));
        const meter = metered(lines, newMeter(5));
        const again = metered(lines.slice(0, 1 + (end % lines.length)), replayed(meter));
        expect(usageTotals(again, true)).toEqual(usageTotals(meter, true));
      }),
      { numRuns: 50 },
    );
  });
});

const texts = fc.array(
  fc.oneof(
    fc
      .record({ id: fc.nat(8), used: usage, text: fc.string({ unit: "binary", maxLength: 200 }) })
      .map(({ id, used, text }) => messageLine(`msg_${id}`, { usage: used, text, tool: `toolu_${id}` })),
    fc.string({ unit: "binary" }).map(userLine),
    fc.constantFrom("", "{", '"', "\u0000", '{"type":"fork-context-ref"}', '{"type":"assistant","message":{'),
  ),
  { maxLength: 20 },
);

function stored(state: TranscriptState): TranscriptState {
  const back = decodeTranscriptState(JSON.parse(JSON.stringify(state)));
  if (back === null) throw new Error(`not read back: ${JSON.stringify(state)}`);
  return back;
}

describe("reading", () => {
  const root = folder();
  let files = 0;
  const newFile = () => {
    files += 1;
    return join(root, `${files}.jsonl`);
  };

  it("in any number of pieces gives what one reading gives", () => {
    fc.assert(
      fc.property(texts, fc.array(fc.nat(), { maxLength: 30 }), (lines, picks) => {
        const bytes = Buffer.from(joined(lines));
        const cuts = [...picks.map((pick) => pick % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
        const file = newFile();
        writeFileSync(file, "");
        let state = newTranscriptState(7);
        let at = 0;
        for (const cut of cuts) {
          appendFileSync(file, bytes.subarray(at, cut));
          state = stored(readTranscript(file, state));
          at = cut;
        }
        expect(state.meter).toEqual(readAll(bytes, 7).meter);
        expect(state.offset).toBe(bytes.length);
      }),
    );
  });

  it("again after the same text was written anew counts it once", () => {
    fc.assert(
      fc.property(texts, fc.nat(), (lines, pick) => {
        const file = newFile();
        const text = joined(lines);
        writeFileSync(file, text);
        const state = readTranscript(file, newTranscriptState(7));
        writeFileSync(file, text.slice(0, pick % (text.length + 1)));
        const cut = stored(readTranscript(file, state));
        writeFileSync(file, text);
        expect(ended(readTranscript(file, cut))).toEqual(ended(state));
      }),
    );
  });
});

describe("a line", () => {
  const names = fc.constantFrom(
    ...[
      "type",
      "uuid",
      "agentId",
      "message",
      "id",
      "model",
      "stop_reason",
      "content",
      "usage",
      "output_tokens",
    ],
    ...["input_tokens", "isApiErrorMessage", "other", "__proto__", "\u0000", '"', "\\"],
  );
  const { any } = fc.letrec<{ any: unknown }>((tie) => ({
    any: fc.oneof(
      { depthSize: "medium", withCrossShrink: true },
      fc.constantFrom("assistant", "user", "tool_use", "\\", '"', "é\ud83d\ude00", 5, 0, -1, 1.5, true, null),
      fc.array(tie("any"), { maxLength: 4 }),
      fc.array(fc.tuple(names, tie("any")), { maxLength: 6 }).map((members) => Object.fromEntries(members)),
    ),
  }));

  it("is read as JSON.parse reads it, in pieces too", () => {
    const message = fc.record(
      { id: any, model: any, stop_reason: any, content: any, usage: any },
      { requiredKeys: [] },
    );
    const root = fc.record(
      {
        other: any,
        message: fc.oneof(any, message),
        uuid: any,
        type: fc.constant("assistant"),
        agentId: any,
      },
      { requiredKeys: ["type"] },
    );
    fc.assert(
      fc.property(root, fc.constantFrom(undefined, 1, "\t"), fc.nat(), (value, indent, pick) => {
        const text = JSON.stringify(value, null, indent);
        const bytes = Buffer.from(text.replaceAll("\n", " "));
        const cut = pick % (bytes.length + 1);
        const scan = newLineScan();
        scanBytes(scan, bytes, 0, cut);
        scanBytes(scan, bytes, cut, bytes.length);
        expect(lineFacts(scan)).toEqual(plainFacts(JSON.parse(text)));
      }),
      { numRuns: 2000 },
    );
  });

  it("with long texts, cut anywhere, is read as JSON.parse reads it", () => {
    const long = fc.array(fc.constantFrom("\\", '"', "x", "w".repeat(30)), { minLength: 60, maxLength: 200 });
    fc.assert(
      fc.property(long, fc.array(fc.nat(), { maxLength: 8 }), (characters, picks) => {
        const content = [{ type: "tool_use", text: characters.join(""), id: "toolu_1" }];
        const bytes = Buffer.from(JSON.stringify({ message: { content, id: "m" }, type: "assistant" }));
        const cuts = [0, ...picks.map((pick) => pick % bytes.length), bytes.length].sort((a, b) => a - b);
        const scan = newLineScan();
        for (const [at, cut] of cuts.slice(1).entries()) scanBytes(scan, bytes, cuts[at] ?? 0, cut);
        expect(lineFacts(scan)).toEqual(plainFacts(JSON.parse(bytes.toString())));
      }),
      { numRuns: 2000 },
    );
  });

  it("never throws, whatever the bytes", () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom(...'{}[]":,\\ae1 '), { maxLength: 200 }), (characters) => {
        const bytes = Buffer.from(characters.join(""));
        const scan = newLineScan();
        scanBytes(scan, bytes, 0, bytes.length);
        expect(lineFacts(scan)).toBeDefined();
      }),
      { numRuns: 2000 },
    );
  });
});

/** The same facts from a parsed line. */
function plainFacts(value: unknown) {
  const root = members(value);
  const message = members(root.message);
  const used = members(message.usage);
  const number = (count: unknown) =>
    typeof count === "number" && Number.isSafeInteger(count) && count >= 0 ? count : 0;
  const content = Array.isArray(message.content) ? message.content : [];
  return {
    type: text(root.type),
    uuid: text(root.uuid),
    agentId: text(root.agentId),
    apiError: root.isApiErrorMessage === true,
    messageId: text(message.id),
    model: text(message.model),
    final: text(message.stop_reason) !== null,
    usage: {
      input: number(used.input_tokens),
      cacheCreation: number(used.cache_creation_input_tokens),
      cacheRead: number(used.cache_read_input_tokens),
      output: number(used.output_tokens),
    },
    toolUses: content.map(members).flatMap(({ type, id }) => (type === "tool_use" ? (text(id) ?? []) : [])),
  };
}

function members(value: unknown): Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? { ...value } : {};
}

function text(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}
