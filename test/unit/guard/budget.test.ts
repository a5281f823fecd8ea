import { describe, expect, it } from "vitest";
import {
  judgeBatch,
  judgeBudget,
  type LimitName,
  limitStates,
  limitText,
  nearLimits,
} from "../../../src/guard/budget.ts";
import type { Meter } from "../../../src/ledger/meter.ts";
import type { SpawnOrigin } from "../../../src/ledger/session-state.ts";
import type { SpawnRecord } from "../../../src/ledger/spawn-record.ts";
import type { Budget } from "../../../src/payload/spawn-payload.ts";
import { budget, deepFreeze, meter, metered, NOW, payload, policy, record } from "./spawn-states.ts";

const POLICY = policy({ runaway_factor: 3 });

function spawn(of: Partial<Budget>, used: Meter, members: Partial<SpawnRecord> = {}): SpawnRecord {
  return deepFreeze(record({ payload: payload({ budget: budget(of) }), meter: used, ...members }));
}

function stateOf(limit: LimitName, of: SpawnRecord, call: string | null = null) {
  const state = limitStates(of, POLICY, NOW, call).find((one) => one.limit === limit);
  if (state === undefined) throw new Error(`no state of ${limit}`);
  return state;
}

const USED: [LimitName, Partial<Budget>, number, (used: number) => Meter][] = [
  ["tool_calls", { max_tool_calls: 10 }, 10, (used) => meter({ toolCalls: used })],
  ["turns", { max_turns: 12 }, 10, (used) => meter({ turns: used })],
  ["input_tokens", { max_input_tokens: 1000 }, 1000, (used) => metered(used, 77)],
  ["time", { timeout_ms: 60_000 }, 60_000, (used) => meter({ ranMs: used - 5, runningSince: NOW - 5 })],
];

describe("where each limit binds", () => {
  const bounds: Record<SpawnOrigin, Record<LimitName, number>> = {
    caller: { tool_calls: 10, turns: 10, input_tokens: 1000, time: 60_000 },
    attached: { tool_calls: 30, turns: 34, input_tokens: 3000, time: 180_000 },
    adopted: { tool_calls: 30, turns: 34, input_tokens: 3000, time: 180_000 },
  };
  const rows = USED.flatMap(([limit, of, told, use]) =>
    (["caller", "attached", "adopted"] as const).map((origin) => {
      return { limit, of, told, use, origin, bound: bounds[origin][limit] };
    }),
  );

  it.each(rows)(
    "$limit of a spawn whose payload is from: $origin",
    ({ limit, of, told, use, origin, bound }) => {
      expect(stateOf(limit, spawn(of, use(7), { origin }))).toEqual({ limit, used: 7, budget: told, bound });
      const just = (used: number) => judgeBudget(spawn(of, use(used), { origin }), "c9", POLICY, NOW).refused;
      expect(just(bound - 1)).toBeNull();
      expect(just(bound)?.code).toBe(`${limit}_exhausted`);
      expect(just(bound)?.reason).toContain("Do not retry and do not delegate; return your contract now");
      expect(just(bound + 1)?.code).toBe(`${limit}_exhausted`);
    },
  );

  it("is the budget itself for every spawn where runaway_factor is 1", () => {
    const states = limitStates(
      spawn({}, meter(), { origin: "attached" }),
      policy({ runaway_factor: 1 }),
      NOW,
      null,
    );
    for (const { budget: told, bound } of states) expect(bound).toBe(told);
  });

  it.each([
    ["caller", null, 50, 48, 48],
    ["caller", 20, 50, 18, 18],
    ["caller", 60, 50, 48, 48],
    ["attached", null, 10, 8, 28],
    ["attached", 10, 10, 8, 8],
    ["attached", 20, 10, 8, 18],
    ["adopted", null, 50, 48, 148],
  ] as const)(
    "two turns before the host stops it: %s, the host at %s, max_turns %i",
    (origin, hostTurns, max_turns, told, bound) => {
      expect(stateOf("turns", spawn({ max_turns }, meter(), { origin, hostTurns }))).toMatchObject({
        budget: told,
        bound,
      });
    },
  );

  it.each([
    [1, 0],
    [2, 1],
    [3, 1],
    [4, 2],
  ])("with max_turns %i: responses that may call tools: %i", (max_turns, responses) => {
    let of = spawn({ max_turns }, meter());
    let allowed = 0;
    while (judgeBudget(of, `c${allowed}`, POLICY, NOW).refused === null) {
      of = { ...of, meter: judgeBatch(of, [`c${allowed}`], POLICY, NOW).meter };
      allowed += 1;
    }
    expect(allowed).toBe(responses);
  });

  it("counts calls in flight, but not the one that is judged", () => {
    const of = spawn({ max_tool_calls: 3 }, meter({ toolCalls: 1, inFlight: ["c1", "c2"] }));
    expect(stateOf("tool_calls", of).used).toBe(3);
    expect(stateOf("tool_calls", of, "c2").used).toBe(2);
  });

  it("takes no time between runs, and none from a clock that went back", () => {
    expect(stateOf("time", spawn({}, meter({ ranMs: 70, runningSince: null }))).used).toBe(70);
    expect(stateOf("time", spawn({}, meter({ ranMs: 70, runningSince: NOW + 9000 }))).used).toBe(70);
  });

  it.each([
    [{ limit: "tool_calls", used: 80, bound: 100 }, "tool calls 80/100"],
    [{ limit: "input_tokens", used: 1, bound: 2 }, "input tokens 1/2"],
    [{ limit: "time", used: 29_600, bound: 60_000 }, "time 30/60 s"],
  ] as const)("is told as in %j", (state, text) => {
    expect(limitText(state)).toBe(text);
  });
});

describe("a call", () => {
  it("that is let through is noted, once", () => {
    const first = judgeBudget(spawn({}, meter()), "c1", POLICY, NOW);
    expect(first).toMatchObject({ refused: null, halt: false, meter: { inFlight: ["c1"] } });
    const again = judgeBudget(spawn({}, first.meter), "c1", POLICY, NOW);
    expect(again.meter).toBe(first.meter);
  });

  it("that was counted already is let through, past the limit as well", () => {
    const used = meter({ toolCalls: 10, counted: ["c1"] });
    expect(judgeBudget(spawn({ max_tool_calls: 10 }, used), "c1", POLICY, NOW)).toEqual({
      meter: used,
      refused: null,
      halt: false,
    });
  });

  it("that is the last allowed and comes twice is let through twice", () => {
    const first = judgeBudget(spawn({ max_tool_calls: 1 }, meter()), "c1", POLICY, NOW);
    expect(judgeBudget(spawn({ max_tool_calls: 1 }, first.meter), "c1", POLICY, NOW).refused).toBeNull();
    expect(judgeBudget(spawn({ max_tool_calls: 1 }, first.meter), "c2", POLICY, NOW).refused).not.toBeNull();
  });

  it("of five at once with a limit of three: three pass, two do not, in any order", () => {
    let of = spawn({ max_tool_calls: 3 }, meter());
    const passed = ["c5", "c1", "c3", "c2", "c4"].filter((call) => {
      const judged = judgeBudget(of, call, POLICY, NOW);
      of = { ...of, meter: judged.meter };
      return judged.refused === null;
    });
    expect(passed).toEqual(["c5", "c1", "c3"]);
    expect(of.meter).toMatchObject({ exhausted: "tool calls 3/3", exhaustedAt: 0 });
  });

  it("that is refused keeps the limit that was first to refuse", () => {
    const first = judgeBudget(spawn({ max_tool_calls: 1 }, meter({ toolCalls: 1 })), "c2", POLICY, NOW);
    const later = { ...first.meter, ranMs: 600_000 };
    const second = judgeBudget(spawn({ max_tool_calls: 9 }, later), "c3", POLICY, NOW);
    expect(second.refused?.code).toBe("time_exhausted");
    expect(second.meter.exhausted).toBe("tool calls 1/1");
  });
});

/** Goes on calling whatever it is told; every response asks for `calls`, and those that may run do. */
function stubborn(calls: number, asksHooks: boolean): string[] {
  let of = spawn({ max_tool_calls: 1 }, meter({ toolCalls: 1, turns: 1 }));
  const story: string[] = [];
  for (let response = 0; response < 5; response++) {
    const ids = Array.from({ length: calls }, (_, index) => `r${response}c${index}`);
    let words = "";
    if (asksHooks) {
      for (const id of ids) {
        const judged = judgeBudget(of, id, POLICY, NOW);
        of = { ...of, meter: judged.meter };
        words += judged.refused === null ? "ok " : judged.halt ? "halt " : "no ";
      }
    }
    const batch = judgeBatch(of, ids, POLICY, NOW);
    of = { ...of, meter: batch.meter };
    story.push(`${words}| ${batch.refused === null ? "ok" : batch.halt ? "halt" : "no"}`);
    if (story.at(-1)?.includes("halt")) break;
  }
  return story;
}

describe("an agent that goes on past its budget", () => {
  it.each([
    ["one call a response", 1, true, ["no | no", "no | no", "halt | halt"]],
    [
      "five calls a response are one chance",
      5,
      true,
      ["no no no no no | no", "no no no no no | no", "halt halt halt halt halt | halt"],
    ],
    ["calls that fail before any hook is asked", 1, false, ["| no", "| no", "| halt"]],
  ])("is ended in the second response after the refused one: %s", (_, calls, asksHooks, story) => {
    expect(stubborn(calls, asksHooks)).toEqual(story);
  });

  it("is told once a batch, and the same batch again changes and says nothing", () => {
    const of = spawn({ max_tool_calls: 1 }, meter({ toolCalls: 1, turns: 1 }));
    const first = judgeBatch(of, ["c2"], POLICY, NOW);
    expect(first.refused?.code).toBe("tool_calls_exhausted");
    const again = judgeBatch({ ...of, meter: first.meter }, ["c2"], POLICY, NOW);
    expect(again).toEqual({ meter: first.meter, refused: null, halt: false });
  });

  it("that reaches its budget with this response has not gone past it", () => {
    const of = spawn({ max_tool_calls: 2 }, meter({ inFlight: ["c1", "c2"] }));
    expect(judgeBatch(of, ["c1", "c2"], POLICY, NOW)).toMatchObject({
      refused: null,
      meter: { toolCalls: 2, turns: 1, inFlight: [], exhausted: null },
    });
  });
});

describe("a batch", () => {
  it.each([
    ["of no calls", [], 0, 0],
    ["of one", ["c1"], 1, 1],
    ["of one, named twice", ["c1", "c1"], 1, 1],
    ["of three, one counted before", ["c0", "c1", "c2"], 2, 1],
    ["counted before", ["c0"], 0, 0],
  ])("%s", (_, calls, toolCalls, turns) => {
    const { meter: after } = judgeBatch(spawn({}, meter({ counted: ["c0"] })), calls, POLICY, NOW);
    expect(after).toMatchObject({ toolCalls, turns });
  });
});

describe("what a subagent is told before its budget ends", () => {
  const tellAt = USED.flatMap(([limit, of, told, use]) => [
    { limit, of, use, origin: "caller" as const, from: told * 0.8 },
    { limit, of, use, origin: "attached" as const, from: told },
    { limit, of, use, origin: "adopted" as const, from: told },
  ]);

  it.each(tellAt)(
    "$limit, payload from $origin: from $from on, and once",
    ({ limit, of, use, origin, from }) => {
      const before = spawn(of, use(from - 1), { origin });
      expect(nearLimits(before, POLICY, NOW)).toEqual({ note: null, meter: before.meter });
      const near = nearLimits(spawn(of, use(from), { origin }), POLICY, NOW);
      expect(near.note).toMatch(/^spawn-guard: your budget is nearly used up \(/);
      expect(near.meter.told).toEqual([limit]);
      expect(nearLimits(spawn(of, near.meter, { origin }), POLICY, NOW).note).toBeNull();
    },
  );

  it("names each limit that is near, and a later one on its own", () => {
    const of = { max_tool_calls: 10, max_input_tokens: 1000 };
    const both = nearLimits(spawn(of, metered(900, 0, { toolCalls: 8 })), POLICY, NOW);
    expect(both.note).toContain("(tool calls 8/10, input tokens 900/1000)");
    const later = nearLimits(spawn(of, { ...both.meter, turns: 8 }), POLICY, NOW);
    expect(later.note).toContain("(turns 8/8)");
    expect(later.meter.told).toEqual(["tool_calls", "input_tokens", "turns"]);
  });

  it.each([
    ["one tool call", { max_tool_calls: 1 }],
    ["no turn with tools", { max_turns: 1 }],
  ])("is nothing at the very start with a budget of %s", (_, of) => {
    expect(nearLimits(spawn(of, meter()), POLICY, NOW).note).toBeNull();
  });
});
