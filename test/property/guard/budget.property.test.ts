import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { judgeBatch, judgeBudget, limitStates, nearLimits } from "../../../src/guard/budget.ts";
import type { SpawnRecord } from "../../../src/ledger/spawn-record.ts";
import { budget, metered, NOW, payload, policy, record } from "../../unit/guard/spawn-states.ts";

const limits = fc.record({
  max_tool_calls: fc.integer({ min: 1, max: 12 }),
  max_turns: fc.integer({ min: 1, max: 12 }),
  max_input_tokens: fc.integer({ min: 100, max: 400 }),
  timeout_ms: fc.integer({ min: 30_000, max: 40_000 }),
});
const spawn = fc
  .record({
    limits,
    origin: fc.constantFrom("caller" as const, "attached" as const, "adopted" as const),
    hostTurns: fc.option(fc.integer({ min: 1, max: 20 })),
    toolCalls: fc.nat(40),
    turns: fc.nat(40),
    inFlight: fc.nat(3),
    input: fc.nat(1300),
    ranMs: fc.nat(130_000),
  })
  .map(({ limits: of, origin, hostTurns, input, inFlight, ...used }): SpawnRecord => {
    const calls = Array.from({ length: inFlight }, (_, index) => `f${index}`);
    const meter = metered(input, 9, { ...used, inFlight: calls });
    return record({ payload: payload({ budget: budget(of) }), origin, hostTurns, meter });
  });
const factor = fc.integer({ min: 1, max: 4 }).map((runaway_factor) => policy({ runaway_factor }));

describe("any state of a spawn", () => {
  it("is refused a call exactly when it has used up a limit", () => {
    fc.assert(
      fc.property(spawn, factor, (of, rules) => {
        const spent = limitStates(of, rules, NOW, "new").some(({ used, bound }) => used >= bound);
        const { refused, halt, meter } = judgeBudget(of, "new", rules, NOW);
        expect(refused !== null).toBe(spent);
        expect(halt).toBe(false);
        expect(meter.inFlight.includes("new")).toBe(!spent);
        expect(meter.exhausted !== null).toBe(spent);
      }),
      { numRuns: 500 },
    );
  });

  it("has bounds that are no tighter than its budget, and no looser than runaway_factor times it", () => {
    fc.assert(
      fc.property(spawn, factor, (of, rules) => {
        const times = of.origin === "caller" ? 1 : rules.runaway_factor;
        for (const { limit, budget: told, bound } of limitStates(of, rules, NOW, null)) {
          expect(bound).toBeGreaterThanOrEqual(told);
          if (limit !== "turns") expect(bound).toBe(told * times);
          // The report takes a turn of its own, also where only two are left.
          else expect(bound + 1).toBeLessThanOrEqual(Math.max(1, of.payload.budget.max_turns * times));
        }
      }),
    );
  });

  it("is told each limit at most once", () => {
    fc.assert(
      fc.property(spawn, factor, (of, rules) => {
        const first = nearLimits(of, rules, NOW);
        expect(nearLimits({ ...of, meter: first.meter }, rules, NOW)).toEqual({
          meter: first.meter,
          note: null,
        });
        expect(new Set(first.meter.told).size).toBe(first.meter.told.length);
      }),
    );
  });
});

describe("any sequence of responses", () => {
  const responses = fc.array(
    fc.uniqueArray(
      fc.nat(30).map((number) => `c${number}`),
      { maxLength: 4 },
    ),
    {
      maxLength: 15,
    },
  );

  it("lets through no more calls than the budget has, counts each once, and ends who goes on", () => {
    fc.assert(
      fc.property(limits, responses, (of, batches) => {
        let spawned = record({ payload: payload({ budget: budget(of) }) });
        const passed = new Set<string>();
        let deniedIn: number | null = null;
        let meteredTurns = 0;
        for (const calls of batches) {
          const fresh = calls.filter((call) => !spawned.meter.counted.includes(call));
          for (const call of fresh) {
            const judged = judgeBudget(spawned, call, policy(), NOW);
            spawned = { ...spawned, meter: judged.meter };
            if (judged.refused === null) passed.add(call);
            else deniedIn ??= meteredTurns;
            expect(judged.halt).toBe(judged.refused !== null && meteredTurns >= (deniedIn ?? 0) + 2);
          }
          const batch = judgeBatch(spawned, calls, policy(), NOW);
          spawned = { ...spawned, meter: batch.meter };
          if (fresh.length > 0) meteredTurns += 1;
          expect(judgeBatch(spawned, calls, policy(), NOW).meter).toBe(spawned.meter);
        }
        expect(passed.size).toBeLessThanOrEqual(of.max_tool_calls);
        expect(spawned.meter.turns).toBe(meteredTurns);
        expect(spawned.meter.toolCalls).toBe(new Set(batches.flat()).size);
        expect(spawned.meter.inFlight).toEqual([]);
      }),
      { numRuns: 300 },
    );
  });
});
