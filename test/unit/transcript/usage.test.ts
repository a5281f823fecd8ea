import { describe, expect, it } from "vitest";
import {
  addLine,
  isMeter,
  type MessageLine,
  newMeter,
  replayed,
  type Usage,
  type UsageMeter,
  usageTotals,
} from "../../../src/transcript/usage.ts";

type Tokens = [input: number, cacheCreation: number, cacheRead: number, output: number];

function usage([input, cacheCreation, cacheRead, output]: Tokens): Usage {
  return { input, cacheCreation, cacheRead, output };
}

function line(id: string, tokens: Tokens, more: Partial<MessageLine> = {}): MessageLine {
  return { id, usage: usage(tokens), final: true, toolUses: [], ...more };
}

function metered(lines: MessageLine[], promptTokens = 0): UsageMeter {
  return lines.reduce(addLine, newMeter(promptTokens));
}

function used(lines: MessageLine[], promptTokens = 0) {
  return usageTotals(metered(lines, promptTokens), true);
}

describe("input tokens used", () => {
  it.each<[string, Tokens[], number]>([
    ["are the prompt's alone at the first request, whatever the host adds to it", [[9000, 0, 20000, 50]], 40],
    [
      "grow by what came between a response and the next request",
      [
        [1000, 0, 0, 50],
        [1250, 0, 0, 10],
      ],
      240,
    ],
    [
      "are the same with the cache",
      [
        [10, 990, 0, 50],
        [5, 245, 1000, 10],
      ],
      240,
    ],
    [
      "are the same when the cache has expired",
      [
        [10, 990, 0, 50],
        [5, 1245, 0, 10],
      ],
      240,
    ],
    [
      "do not grow when only the response came in",
      [
        [1000, 0, 0, 50],
        [1050, 0, 0, 10],
        [1060, 0, 0, 5],
      ],
      40,
    ],
    [
      "lose the one step of a compaction",
      [
        [9000, 0, 0, 50],
        [400, 0, 0, 10],
        [510, 0, 0, 10],
      ],
      140,
    ],
    [
      "pass over a message without a context, but not over what it answered",
      [
        [1000, 0, 0, 50],
        [0, 0, 0, 30],
        [1250, 0, 0, 10],
      ],
      210,
    ],
    [
      "pass over a message without usage",
      [
        [1000, 0, 0, 50],
        [0, 0, 0, 0],
        [1250, 0, 0, 10],
      ],
      240,
    ],
  ])("%s", (_, requests, input) => {
    expect(
      used(
        requests.map((tokens, index) => line(`msg_${index}`, tokens)),
        40,
      ).input,
    ).toBe(input);
  });

  it("are none, not even the prompt's, before the first request is on disk", () => {
    expect(usageTotals(newMeter(40), true)).toEqual({
      messages: 0,
      input: 0,
      output: 0,
      toolUses: 0,
      tokens: 0,
    });
  });
});

describe("a message on several lines", () => {
  it.each<[string, Tokens[], number]>([
    [
      "with its usage repeated counts once",
      [
        [3, 100, 2000, 500],
        [3, 100, 2000, 500],
        [3, 100, 2000, 500],
      ],
      500,
    ],
    [
      "with growing usage counts as its largest line",
      [
        [3, 100, 2000, 9],
        [3, 100, 2000, 9],
        [3, 100, 2000, 159],
      ],
      159,
    ],
    [
      "with usage that shrinks again counts as its largest line",
      [
        [3, 100, 2000, 159],
        [3, 0, 0, 9],
      ],
      159,
    ],
    [
      "takes each bucket from the line where it is largest",
      [
        [0, 100, 2000, 0],
        [3, 0, 0, 70],
      ],
      70,
    ],
  ])("%s", (_, lines, output) => {
    const meter = metered(lines.map((tokens) => line("msg_1", tokens)));
    expect(usageTotals(meter, true)).toMatchObject({ messages: 1, output });
    const next = addLine(meter, line("msg_2", [3 + 2100 + output + 11, 0, 0, 1]));
    expect(usageTotals(next, true)).toMatchObject({ messages: 2, input: 11, output: output + 1 });
  });

  it("may stand among lines of the next ones, and adjusts what they were counted for", () => {
    const totals = used([
      line("msg_1", [100, 0, 0, 1]),
      line("msg_2", [200, 0, 0, 1]),
      line("msg_1", [100, 0, 0, 60]),
      line("msg_2", [200, 0, 0, 7]),
    ]);
    expect(totals).toMatchObject({ messages: 2, input: 40, output: 67 });
  });

  it("holds back the step after it until it is final, so that a running total is never too high", () => {
    const meter = metered([line("msg_1", [100, 0, 0, 1], { final: false }), line("msg_2", [200, 0, 0, 1])]);
    expect(usageTotals(meter, false)).toMatchObject({ input: 0, output: 2 });
    expect(usageTotals(meter, true)).toMatchObject({ input: 99, output: 2 });
    const final = addLine(meter, line("msg_1", [100, 0, 0, 60]));
    expect(usageTotals(final, false)).toMatchObject({ input: 40, output: 61 });
  });

  it("is in doubt through a message without a context that follows it", () => {
    const lines = [
      line("msg_1", [100, 0, 0, 1], { final: false }),
      line("msg_2", [0, 0, 0, 0]),
      line("msg_3", [200, 0, 0, 1]),
    ];
    expect(usageTotals(metered(lines), false).input).toBe(0);
    expect(usageTotals(metered(lines), true).input).toBe(99);
  });
});

describe("copies", () => {
  const history = Array.from({ length: 1000 }, (_, index) => line(`msg_${index}`, [index * 10, 0, 0, 2]));

  it("of a message long settled count nothing", () => {
    const meter = metered(history.slice(0, 200));
    expect(history.slice(0, 200).reduce(addLine, meter)).toEqual(meter);
  });

  it("of everything, in a file written again, count nothing even beyond what is remembered", () => {
    const meter = metered(history);
    const again = history.reduce(addLine, replayed(meter));
    expect(usageTotals(again, true)).toEqual(usageTotals(meter, true));
    const after = addLine(again, line("msg_new", [99_999, 0, 0, 5]));
    expect(usageTotals(after, true).messages).toBe(1001);
  });

  it.each([
    ["ends early", 0, 760],
    ["begins late", 745, 760],
    ["has the last messages only", 998, 1000],
  ])("leave no message uncounted after a file that %s", (_, from, to) => {
    const meter = history.slice(from, to).reduce(addLine, replayed(metered(history)));
    const after = addLine(meter, line("msg_new", [99_999, 0, 0, 5]));
    expect(usageTotals(after, true).messages).toBe(1001);
  });
});

describe("tool uses", () => {
  it.each<[string, string[][], number]>([
    ["of one message on several lines", [["t1"], ["t2"], ["t3"]], 3],
    ["repeated", [["t1"], ["t1"], ["t1", "t2"]], 2],
    ["named like members of every object", [["__proto__"], ["constructor"], ["__proto__"]], 2],
  ])("%s are told apart by id", (_, lines, count) => {
    expect(used(lines.map((toolUses) => line("m", [1, 0, 0, 1], { toolUses }))).toolUses).toBe(count);
  });

  it("of different messages add up, an id that comes again does not", () => {
    const lines = [["t1"], ["t2"], ["t2"]].map((toolUses, at) => line(`m${at}`, [1, 0, 0, 1], { toolUses }));
    expect(used(lines).toolUses).toBe(2);
  });
});

describe("hostile values", () => {
  it.each([Number.NaN, Number.POSITIVE_INFINITY, -5, 1.5, 2 ** 60])("%s tokens count as none", (tokens) => {
    const totals = used([line("m", [tokens, tokens, tokens, tokens])]);
    expect(totals).toMatchObject({ messages: 1, input: 0, output: 0 });
  });

  it("near the largest number keep the sums whole", () => {
    const most = Number.MAX_SAFE_INTEGER;
    const meter = metered(Array.from({ length: 9 }, (_, at) => line(`m${at}`, [most, most, most, most])));
    expect(usageTotals(meter, true).output).toBe(most);
    expect(isMeter(meter)).toBe(true);
  });

  it.each(["__proto__", "constructor", "toString", "", "x".repeat(100_000)])(
    "an id like %.20s is an id",
    (id) => {
      expect(used([line(id, [1, 0, 0, 4]), line(id, [1, 0, 0, 6])])).toMatchObject({
        messages: 1,
        output: 6,
      });
    },
  );
});

it("stays small however many messages there were", () => {
  const toolUses = Array.from({ length: 150 }, (_, at) => `toolu_${at}`);
  const lines = Array.from({ length: 600 }, (_, at) =>
    line(`msg_${at}`, [at, 0, 0, 1], { toolUses: toolUses.map((id) => `${id}-${at}`) }),
  );
  expect(JSON.stringify(metered(lines)).length).toBeLessThan(8000);
});
