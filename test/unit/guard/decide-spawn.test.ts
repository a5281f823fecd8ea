import { describe, expect, it } from "vitest";
import type { ReasonCode } from "../../../src/guard/reasons.ts";
import type { Caller, SpawnRequest } from "../../../src/guard/spawn-request.ts";
import type { SessionState } from "../../../src/ledger/session-state.ts";
import type { Role } from "../../../src/roles/role.ts";
import {
  admitted,
  budget,
  caller,
  decide,
  giving,
  MAIN,
  PARENT,
  payload,
  policy,
  refused,
  request,
  session,
  slot,
  target,
} from "./spawn-states.ts";

const LONG = `wf-${"a".repeat(120)}-spawn-1`;

describe("depth", () => {
  const rows = [0, 1, 2, 3].flatMap((limit) =>
    [0, 1, 2, 3].map((from) => ({ limit, from, admits: from + 1 <= limit })),
  );

  it.each(rows)(
    "at limit $limit, a caller at depth $from: admitted is $admits",
    ({ limit, from, admits }) => {
      const by: Caller = from === 0 ? MAIN : caller({ depth: from });
      const decision = decide(
        session(),
        request({ caller: by, policy: policy({ subagent_max_depth: limit }) }),
      );
      if (admits) {
        expect(admitted(decision).record).toMatchObject({ depth: from + 1, phase: "reserved" });
        return;
      }
      const { code, reason } = refused(decision).refused;
      expect(code).toBe("depth_exceeded");
      expect(reason).toContain(
        limit === 0 ? "subagent_max_depth is 0" : `at depth ${from + 1}; the limit is ${limit}`,
      );
    },
  );

  it.each([
    [0, 3, true],
    [2, 3, true],
    [3, 3, false],
  ])("counts on from a main thread at depth %i: limit %i admits is %s", (baseDepth, limit, admits) => {
    const decision = decide(
      session({ baseDepth }),
      request({ policy: policy({ subagent_max_depth: limit }) }),
    );
    expect(decision.kind).toBe(admits ? "admitted" : "refused");
  });

  it("is told in the prompt, with the levels that are left", () => {
    const prompts = [1, 2].map(
      (depth) => admitted(decide(session(), request({ caller: caller({ depth }) }))).input.prompt,
    );
    expect(prompts[0]).toMatch(/at depth 2 of at most 3\. You may spawn subagents, 1 more level deep\.$/);
    expect(prompts[1]).toMatch(/at depth 3 of at most 3\. You may not spawn subagents: do all of the work/);
  });

  it.each<[boolean, Partial<Role>, string[], string[]]>([
    [true, { tools: null }, ["*"], []],
    [true, { tools: ["Read", "Agent(db-engineer)"] }, ["*"], []],
    [false, { tools: ["Read", "Edit"] }, ["*"], []],
    [false, { tools: null, disallowedTools: ["Agent"] }, ["*"], []],
    [false, { tools: null }, ["Read"], []],
    [false, { tools: null }, ["*"], ["Agent"]],
  ])(
    "whether it may spawn is %s for a role %j of a caller with %j without %j",
    (may, own, tools, disallowed) => {
      const by = caller({ tools, disallowed });
      const { prompt } = admitted(decide(session(), request({ caller: by, target: target(own) }))).input;
      expect(prompt).toMatch(may ? /You may spawn subagents, 1 more level/ : /You may not spawn subagents/);
    },
  );
});

describe("each refusal names the value and the bound", () => {
  const unknown = { ...target({ name: "stranger", origin: "foreign" }), known: false };
  const doubtful = caller({ lineage: { known: false, why: "its parent is not in the ledger" } });
  const two = { w1: slot({ call: "x1" }), w2: slot({ call: "x2" }) };

  const rows: [ReasonCode, SessionState, SpawnRequest, string[]][] = [
    ["depth_exceeded", session(), request({ caller: caller({ depth: 3 }) }), ["at depth 4", "limit is 3"]],
    [
      "lineage_unknown",
      session(),
      request({ caller: doubtful }),
      ["its parent is not in the ledger", "limit of 3"],
    ],
    [
      "role_unknown",
      session(),
      request({ target: unknown, policy: policy({ unknown_roles: "deny" }) }),
      ['"stranger"', "unknown_roles is deny"],
    ],
    ["payload_ambiguous", session(), request({ payload: { kind: "many", count: 3 } }), ["3", "exactly one"]],
    [
      "payload_invalid",
      session(),
      request({ payload: { kind: "unusable", problem: "budget.max_turns is 60; at most 50" } }),
      ["max_turns is 60; at most 50"],
    ],
    [
      "payload_invalid",
      session(),
      giving(payload({ trace_id: LONG })),
      [`trace_id has ${LONG.length} characters; at most 128`],
    ],
    [
      "payload_missing",
      session(),
      request({ policy: policy({ payload_mode: "require" }) }),
      ["payload_mode is require", "<spawn_payload>"],
    ],
    [
      "parent_mismatch",
      session(),
      giving(payload({ parent_trace_id: "wf-20261130-zzzzzz-spawn-001" })),
      ["wf-20261130-zzzzzz-spawn-001", "the main thread", "null"],
    ],
    [
      "parent_mismatch",
      session(),
      giving(payload({ parent_trace_id: "wf-20261130-zzzzzz-spawn-001" }), { caller: caller() }),
      ["wf-20261130-zzzzzz-spawn-001", `made by ${PARENT}`],
    ],
    [
      "role_mismatch",
      session(),
      giving(payload({ subagent_role: "db-engineer" })),
      ['"db-engineer"', '"spawn-guard:qa-engineer"'],
    ],
    [
      "trace_reused",
      session(),
      giving(payload(), { traceUsed: (trace) => trace === payload().trace_id }),
      [payload().trace_id, "<spawn_payload>"],
    ],
    [
      "intent_exceeded",
      session(),
      giving(payload({ allowed_tools: ["Read", "Bash"] }), { target: target({ tools: ["Read"] }) }),
      ["Bash", "not the role's", "These would fit: Read"],
    ],
    [
      "intent_exceeded",
      session(),
      giving(payload({ allowed_tools: ["Read", "Bash"] }), { caller: caller({ tools: ["Read"] }) }),
      ["Bash", "not yours", "These would fit: Read"],
    ],
    [
      "intent_exceeded",
      session(),
      request({ caller: caller({ tools: ["Read"] }), target: target({ tools: ["Write"] }) }),
      ["cannot hand on more than your own"],
    ],
    [
      "budget_over_cap",
      session(),
      giving(payload(), { policy: policy({ max_budget_turns: 9, max_budget_tool_calls: 4 }) }),
      ["budget.max_turns is 10; at most 9", "budget.max_tool_calls is 10; at most 4"],
    ],
    [
      "budget_over_parent",
      session(),
      giving(payload(), { caller: caller({ left: { inputTokens: 99, timeMs: 600_000 } }) }),
      ["99 input tokens", "needs 100"],
    ],
    [
      "budget_over_parent",
      session(),
      giving(payload(), { caller: caller({ left: { inputTokens: 10_000, timeMs: 29_000 } }) }),
      ["29 s", "needs 30 s"],
    ],
    [
      "spawns_exhausted",
      session({ admitted: 7 }),
      request({ policy: policy({ max_spawns_per_session: 7 }) }),
      ["has made 7", "limit is 7"],
    ],
    [
      "spawns_exhausted",
      session(),
      request({ policy: policy({ max_spawns_per_session: 0 }) }),
      ["limit is 0"],
    ],
    [
      "children_exceeded",
      session({ running: { [PARENT]: slot({ children: 4 }) } }),
      request({ caller: caller(), policy: policy({ max_children_per_spawn: 4 }) }),
      ["made 4", "limit is 4"],
    ],
    [
      "concurrency_exceeded",
      session({ running: two }),
      request({ policy: policy({ max_concurrent_spawns: 2 }) }),
      ["2 spawns are running", "at most 2"],
    ],
    [
      "session_tokens_exceeded",
      session({ spent: 100, running: { w1: slot({ reserved: 900, spent: 200 }) } }),
      giving(payload(), { policy: policy({ session_token_hard_cap: 5000 }) }),
      ["used 300 tokens", "hold 700 in reserve", "with 10500 for this one that is 11500", "cap of 5000"],
    ],
  ];

  it.each(rows)("%s", (code, state, asked, words) => {
    const decision = refused(decide(state, asked));
    expect(decision.refused.code).toBe(code);
    for (const word of words) expect(decision.refused.reason).toContain(word);
    expect(decision.session).toMatchObject({ admitted: state.admitted, refused: 1, running: state.running });
  });
});

describe("of several refusals the first that no next try could move is given", () => {
  const everything: Partial<SpawnRequest> = {
    target: { ...target({ name: "stranger", origin: "foreign" }), known: false },
    payload: { kind: "many", count: 2 },
    caller: caller({ depth: 9, lineage: { known: false, why: "no parent" } }),
  };
  const strict = { unknown_roles: "deny", max_spawns_per_session: 0 };

  it.each<[ReasonCode, Partial<SpawnRequest>]>([
    ["depth_exceeded", { ...everything, policy: policy({ ...strict, subagent_max_depth: 0 }) }],
    ["lineage_unknown", { ...everything, policy: policy(strict) }],
    ["depth_exceeded", { ...everything, caller: caller({ depth: 9 }), policy: policy(strict) }],
    ["role_unknown", { ...everything, caller: caller(), policy: policy(strict) }],
    ["payload_ambiguous", { ...everything, caller: caller(), policy: policy({ max_spawns_per_session: 0 }) }],
    ["spawns_exhausted", { caller: caller(), policy: policy(strict) }],
  ])("%s", (code, members) => {
    expect(refused(decide(session(), request(members))).refused.code).toBe(code);
  });
});

describe("caps", () => {
  it.each([
    ["the last spawn", { max_spawns_per_session: 8 }, { admitted: 7 }],
    ["the last slot", { max_concurrent_spawns: 2 }, { running: { w1: slot({ call: "x" }) } }],
    ["the last child", { max_children_per_spawn: 2 }, { running: { [PARENT]: slot({ children: 1 }) } }],
    ["the last token", { session_token_hard_cap: 10_500 }, {}],
  ])("admit %s", (_, caps, state) => {
    const asked = giving(payload(), { caller: caller(), policy: policy(caps) });
    expect(decide(session(state), asked).kind).toBe("admitted");
  });

  it("count a child for its parent, and only there", () => {
    const state = session({ running: { [PARENT]: slot(), other: slot({ call: "x" }) } });
    const { session: after, record } = admitted(decide(state, request({ caller: caller() })));
    expect(after.running[PARENT]?.children).toBe(1);
    expect(after.running.other?.children).toBe(0);
    expect(after).toMatchObject({ admitted: 1, refused: 0 });
    expect(after.running[record.trace]).toMatchObject({ call: "c1", parent: PARENT, depth: 2, agent: null });
  });

  it("reserve what a caller's payload asks for, and nothing for an attached one", () => {
    const slotsOf = (asked: SpawnRequest) => {
      const { session: after, record } = admitted(decide(session(), asked));
      return after.running[record.trace]?.reserved;
    };
    expect(slotsOf(giving(payload()))).toBe(10_500);
    expect(slotsOf(request())).toBe(0);
  });

  it.each([
    [0, false],
    [1, true],
  ])("a hard cap of %i admits an attached spawn: %s", (cap, admits) => {
    const decision = decide(session(), request({ policy: policy({ session_token_hard_cap: cap }) }));
    expect(decision.kind).toBe(admits ? "admitted" : "refused");
  });
});

describe("a call that was admitted before", () => {
  it("is known by its slot, whatever the limits say by now", () => {
    const first = admitted(decide(session(), request()));
    const asked = request({ policy: policy({ subagent_max_depth: 0 }) });
    expect(decide(first.session, asked)).toEqual({ kind: "known", trace: first.record.trace });
  });
});

describe("a refused attempt", () => {
  const off = policy({ subagent_max_depth: 0 });
  const attempt = (state: SessionState, call: string, key = "k1", members: Partial<SpawnRequest> = {}) =>
    refused(decide(state, request({ call, key, policy: off, ...members })));

  it("is counted by caller, type and prompt: the second identical one is the second time", () => {
    const first = attempt(session(), "c1");
    const second = attempt(first.session, "c2");
    const other = attempt(second.session, "c3", "k2");
    const third = attempt(other.session, "c4");
    expect([first, second, other, third].map(({ times }) => times)).toEqual([1, 2, 1, 3]);
    expect(third.session.refused).toBe(4);
    expect(third.session.refusals.map(({ key, times }) => [key, times])).toEqual([
      ["k2", 1],
      ["k1", 3],
    ]);
  });

  it("that is the same call once more is not counted again (case 56)", () => {
    const first = attempt(session(), "c1");
    const again = attempt(first.session, "c1");
    expect(again.times).toBe(1);
    expect(again.session).toBe(first.session);
  });

  it("for another reason is another attempt", () => {
    const first = attempt(session(), "c1");
    const other = attempt(first.session, "c2", "k1", { policy: policy({ max_spawns_per_session: 0 }) });
    expect(other).toMatchObject({ times: 1, refused: { code: "spawns_exhausted" } });
  });

  it("is remembered among the latest fifty, the newest last", () => {
    let state = session();
    for (let number = 0; number < 60; number++) state = attempt(state, `c${number}`, `k${number}`).session;
    expect(state.refused).toBe(60);
    expect(state.refusals).toHaveLength(50);
    expect(state.refusals.at(0)?.key).toBe("k10");
    expect(state.refusals.at(-1)?.key).toBe("k59");
  });
});

describe("the budget of a child", () => {
  const child = (left: { inputTokens: number; timeMs: number }, members: Partial<SpawnRequest> = {}) =>
    admitted(
      decide(
        session({ running: { [PARENT]: slot() } }),
        giving(payload(), { caller: caller({ left }), ...members }),
      ),
    ).record.payload.budget;

  it.each([
    [{ inputTokens: 400_000, timeMs: 4_000_000 }, {}],
    [
      { inputTokens: 9_999.9, timeMs: 599_999.9 },
      { max_input_tokens: 9_999, timeout_ms: 599_999 },
    ],
    [
      { inputTokens: 100, timeMs: 30_000 },
      { max_input_tokens: 100, timeout_ms: 30_000 },
    ],
  ])("with %j left is cut to fit", (left, cut) => {
    expect(child(left)).toEqual(budget(cut));
  });

  it("leaves out what its siblings still hold in reserve, not what they have spent or what others hold", () => {
    const running = {
      [PARENT]: slot(),
      w1: slot({ call: "x1", parent: PARENT, reserved: 6_000, spent: 1_000 }),
      w2: slot({ call: "x2", parent: PARENT, reserved: 500, spent: 900 }),
      w3: slot({ call: "x3", parent: "somebody else", reserved: 9_000 }),
    };
    const asked = giving(payload(), { caller: caller({ left: { inputTokens: 8_000, timeMs: 600_000 } }) });
    expect(admitted(decide(session({ running }), asked)).record.payload.budget.max_input_tokens).toBe(3_000);
  });

  it("that the guard attached is cut so that even runaway_factor times it fits", () => {
    const left = { inputTokens: 9_000, timeMs: 120_000 };
    const attached = { payload: { kind: "none" } } as const;
    expect(child(left, attached)).toMatchObject({ max_input_tokens: 3_000, timeout_ms: 40_000 });
    expect(child(left, { ...attached, policy: policy({ runaway_factor: 1 }) })).toMatchObject({
      max_input_tokens: 9_000,
      timeout_ms: 120_000,
    });
  });

  it.each([
    [{ inputTokens: 299, timeMs: 600_000 }, "299 input tokens are left to hand on, and a spawn needs 300"],
    [{ inputTokens: 10_000, timeMs: 89_000 }, "89 s are left, and a spawn needs 90 s"],
  ])("that the guard attached is refused with %j left", (left, words) => {
    const decision = decide(session(), request({ caller: caller({ left }) }));
    expect(refused(decision).refused).toMatchObject({ code: "budget_over_parent" });
    expect(refused(decision).refused.reason).toContain(words);
  });

  it("keeps calls, turns and output, which are per spawn", () => {
    const { max_tool_calls, max_turns, max_output_tokens } = child({ inputTokens: 200, timeMs: 40_000 });
    expect({ max_tool_calls, max_turns, max_output_tokens }).toEqual({
      max_tool_calls: 10,
      max_turns: 10,
      max_output_tokens: 500,
    });
  });
});

describe("a session_intent that cannot be read", () => {
  it.each([",", "Bash(git", "a b"])("admits nothing, and says why: %s", (text) => {
    const by: Caller = { kind: "main", intent: text.split(", ").filter((rule) => rule !== ",") };
    const { refused: reason } = refused(decide(session(), request({ caller: by })));
    expect(reason).toMatchObject({
      code: "intent_exceeded",
      reason: expect.stringContaining("session_intent"),
    });
  });
});
