import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { limitStates } from "../../../src/guard/budget.ts";
import { decideSpawn } from "../../../src/guard/decide-spawn.ts";
import { walkLineage } from "../../../src/guard/lineage.ts";
import { sessionTokens } from "../../../src/guard/session-tokens.ts";
import type { Caller, SpawnRequest } from "../../../src/guard/spawn-request.ts";
import { coversAll } from "../../../src/guard/tools/shrink.ts";
import { parseToolRule } from "../../../src/guard/tools/tool-rule.ts";
import type { SessionState } from "../../../src/ledger/session-state.ts";
import { giveBack } from "../../../src/ledger/slot.ts";
import type { SpawnRecord } from "../../../src/ledger/spawn-record.ts";
import type { SpawnPayload } from "../../../src/payload/spawn-payload.ts";
import { checkPayload } from "../../../src/payload/validate.ts";
import type { Policy } from "../../../src/policy/policy-keys.ts";
import {
  deepFreeze,
  MAIN,
  metered,
  NOW,
  payload,
  policy,
  request,
  session,
  target,
} from "../../unit/guard/spawn-states.ts";

const tool = fc.constantFrom(
  "*",
  "Read",
  "Grep",
  "Bash",
  "Bash(git:*)",
  "Bash(git log:*)",
  "Write(src/**)",
  "Agent",
);
const tools = fc.uniqueArray(tool, { minLength: 1, maxLength: 4 });

const caps = fc
  .record({
    subagent_max_depth: fc.constantFrom(0, 1, 2, 3, 3, 4, 4),
    max_spawns_per_session: fc.constantFrom(0, 3, 12, 30),
    max_concurrent_spawns: fc.constantFrom(0, 2, 6, 12),
    max_children_per_spawn: fc.nat(3),
    session_token_hard_cap: fc.constantFrom(0, 9_000, 60_000, 900_000),
    runaway_factor: fc.integer({ min: 1, max: 4 }),
    payload_mode: fc.constantFrom("attach" as const, "attach" as const, "require" as const),
  })
  .map((values) => policy(values));

const ask = fc.record({
  kind: fc.constant("ask" as const),
  /** which of the running spawns calls; the main thread where there is none of that number */
  from: fc.integer({ min: -1, max: 4 }),
  role: fc.record({ tools: fc.option(tools), disallowedTools: fc.subarray(["Bash", "WebFetch"]) }),
  given: fc.option(
    fc.record({
      tools,
      input: fc.integer({ min: 100, max: 20_000 }),
      time: fc.integer({ min: 30_000, max: 300_000 }),
      number: fc.nat(30),
    }),
  ),
  again: fc.boolean(),
});
const step = fc.oneof(
  { weight: 4, arbitrary: ask },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("end" as const), which: fc.nat(6), ran: fc.boolean() }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant("spend" as const), which: fc.nat(6), tokens: fc.nat(9_000) }),
  },
);
type Ask = typeof ask extends fc.Arbitrary<infer T> ? T : never;
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** A session that only the guard's pure parts keep. */
class Story {
  state: SessionState = session();
  readonly records = new Map<string, SpawnRecord>();
  private calls = 0;

  constructor(private readonly policy: Policy) {}

  play(move: Step): void {
    if (move.kind === "ask") {
      this.ask(move);
      return;
    }
    const trace = Object.keys(this.state.running)[move.which];
    const slot = trace === undefined ? undefined : this.state.running[trace];
    if (trace === undefined || slot === undefined) return;
    if (move.kind === "spend") {
      const record = this.recordOf(trace);
      const spent = slot.spent + move.tokens;
      this.records.set(trace, { ...record, meter: metered(spent, 0) });
      this.state = { ...this.state, running: { ...this.state.running, [trace]: { ...slot, spent } } };
      return;
    }
    const { [trace]: _, ...running } = this.state.running;
    const freed = { ...this.state, running, spent: this.state.spent + slot.spent };
    this.state = move.ran ? freed : giveBack(freed, slot.parent);
  }

  recordOf(trace: string): SpawnRecord {
    const record = this.records.get(trace);
    if (record === undefined) throw new Error(`no record of ${trace}`);
    return record;
  }

  callerAt(from: number): Caller {
    const trace = Object.keys(this.state.running)[from];
    if (trace === undefined) return MAIN;
    const record = this.recordOf(trace);
    const limits = limitStates(record, this.policy, NOW, null);
    const left = (name: string) =>
      limits.reduce((sum, { limit, bound, used }) => (limit === name ? bound - used : sum), 0);
    return {
      kind: "spawn",
      trace,
      depth: record.depth,
      lineage: walkLineage(record, (of) => this.records.get(of) ?? null, 0),
      tools: record.payload.allowed_tools,
      disallowed: record.disallowed,
      inheritedBans: record.inheritedBans,
      intent: ["*"],
      scope: "permissive",
      handsOn: record.handsOn,
      isProjectRole: false,
      left: { inputTokens: left("input_tokens"), timeMs: left("time") },
    };
  }

  private ask({ from, role, given, again }: Ask): void {
    const caller = this.callerAt(from);
    const asked: SpawnRequest = request({
      call: `c${this.calls++}`,
      key: `k${this.calls % 3}`,
      caller,
      policy: this.policy,
      target: target(role),
      payload: given === null ? { kind: "none" } : { kind: "one", payload: asGiven(given) },
      traceUsed: (trace) => this.records.has(trace),
    });
    const before = this.state;
    const decision = decideSpawn(deepFreeze(before), deepFreeze(asked));
    if (decision.kind === "known") throw new Error("a new call is known");
    this.state = decision.session;
    if (decision.kind === "refused") {
      expect(decision.session).toMatchObject({ running: before.running, admitted: before.admitted });
      return;
    }
    const { record } = decision;
    expect(this.records.has(record.trace)).toBe(false);
    this.records.set(record.trace, record);
    this.holds(record, caller, before);
    if (again) expect(decideSpawn(this.state, asked)).toEqual({ kind: "known", trace: record.trace });
  }

  /** What every admitted spawn has to keep to. */
  private holds(record: SpawnRecord, caller: Caller, before: SessionState): void {
    expect(checkPayload(record.payload)).toMatchObject({ ok: true });
    expect(record.depth).toBeLessThanOrEqual(this.policy.subagent_max_depth);
    const { used, reserved } = sessionTokens(before);
    const asks = this.state.running[record.trace]?.reserved ?? 0;
    expect(used + reserved + asks).toBeLessThanOrEqual(this.policy.session_token_hard_cap);
    if (caller.kind === "main") return;
    const mine = rules(caller.tools);
    expect(coversAll(mine, rules(record.payload.allowed_tools))).toEqual({ ok: true });
    expect(record.disallowed).toEqual(expect.arrayContaining([...caller.disallowed]));
    const bounds = limitStates(record, this.policy, NOW, null);
    for (const { limit, bound } of bounds) {
      if (limit === "input_tokens") expect(bound).toBeLessThanOrEqual(caller.left.inputTokens);
      if (limit === "time") expect(bound).toBeLessThanOrEqual(caller.left.timeMs);
    }
    const parent = this.recordOf(caller.trace);
    expect(record.depth).toBe(parent.depth + 1);
    expect(walkLineage(record, (of) => this.records.get(of) ?? null, 0)).toEqual({ known: true });
  }
}

function asGiven(given: NonNullable<Ask["given"]>): SpawnPayload {
  const base = payload();
  return {
    ...base,
    trace_id: `wf-20261130-abc123-spawn-${given.number}`,
    allowed_tools: given.tools,
    budget: { ...base.budget, max_input_tokens: given.input, timeout_ms: given.time },
  };
}

function rules(texts: readonly string[]) {
  return texts.map(parseToolRule);
}

describe("any sequence of calls and endings against any caps", () => {
  it("keeps the counts within them, and rights and budgets within the caller's", () => {
    fc.assert(
      fc.property(caps, fc.array(step, { minLength: 10, maxLength: 40, size: "max" }), (limits, steps) => {
        const story = new Story(limits);
        for (const move of steps) {
          story.play(move);
          const { admitted, running, refused, refusals, seq } = story.state;
          const slots = Object.values(running);
          expect(admitted).toBeLessThanOrEqual(limits.max_spawns_per_session);
          expect(admitted).toBeGreaterThanOrEqual(slots.length);
          expect(slots.length).toBeLessThanOrEqual(limits.max_concurrent_spawns);
          expect(Math.min(refused, refusals.length, seq)).toBeGreaterThanOrEqual(0);
          for (const { children, depth, reserved } of slots) {
            expect(children).toBeGreaterThanOrEqual(0);
            expect(children).toBeLessThanOrEqual(limits.max_children_per_spawn);
            expect(depth).toBeGreaterThanOrEqual(1);
            expect(reserved).toBeGreaterThanOrEqual(0);
          }
        }
      }),
      { numRuns: 400 },
    );
  });

  it("admits as many calls at once as there are slots, in whatever order they come", () => {
    fc.assert(
      fc.property(fc.nat(8), fc.nat(8), fc.nat(12), (slots, total, calls) => {
        const limits = policy({ max_concurrent_spawns: slots, max_spawns_per_session: total });
        let state = session();
        let admitted = 0;
        for (let call = 0; call < calls; call++) {
          const decision = decideSpawn(state, request({ call: `c${call}`, policy: limits }));
          if (decision.kind === "known") throw new Error("a new call is known");
          if (decision.kind === "admitted") admitted += 1;
          state = decision.session;
        }
        expect(admitted).toBe(Math.min(slots, total, calls));
      }),
    );
  });
});
