import { describe, expect, it } from "vitest";
import { goalOf } from "../../../src/guard/spawn-prompt.ts";
import type { SpawnRequest } from "../../../src/guard/spawn-request.ts";
import { renderBlock } from "../../../src/payload/prompt-block.ts";
import {
  admitted,
  caller,
  decide,
  giving,
  NOW,
  PARENT,
  payload,
  payloadIn,
  policy,
  refused,
  request,
  session,
  slot,
  target,
} from "./spawn-states.ts";

const characters = (text: string) => [...text].length;

describe("the goal of a payload that the guard attaches", () => {
  const rows: [string, string, string, string][] = [
    ["a long enough description", "check the login form", "do it all", "check the login form"],
    ["exactly ten characters", "0123456789", "do it all", "0123456789"],
    ["nine characters of description", "012345678", "look at one part", "look at one part"],
    ["a description of spaces", "              ", "look at one part", "look at one part"],
    ["both short", "fix it", "now", "fix it: now"],
    ["no description", "", "now", "Task as given: now"],
    ["nothing at all", "", "", "Task as given: "],
    ["nine emoji, each of two code units", "🧪🧪🧪🧪🧪🧪🧪🧪🧪", "look at one part", "look at one part"],
    ["ten emoji", "🧪🧪🧪🧪🧪🧪🧪🧪🧪🧪", "look at one part", "🧪🧪🧪🧪🧪🧪🧪🧪🧪🧪"],
  ];
  it.each(rows)("with %s", (_, description, prompt, goal) => {
    expect(goalOf({ description, prompt })).toBe(goal);
    expect(characters(goal)).toBeGreaterThanOrEqual(10);
  });

  it.each(["x", "🧪", "検", "e\u0301"])(
    "is cut to 1000 code points of %s, none of them in half",
    (letter) => {
      const goal = goalOf({ description: "", prompt: letter.repeat(3000) });
      expect(characters(goal)).toBe(1000);
      expect(JSON.stringify(goal)).not.toContain("\\ud");
    },
  );
});

describe("an attached payload", () => {
  it("is valid, stands in the prompt behind the task, and names its own trace", () => {
    const { record, input } = admitted(decide(session(), request()));
    expect(record).toMatchObject({
      trace: "wf-20261130-abc123-spawn-001",
      origin: "attached",
      role: "qa-engineer",
      agentType: "spawn-guard:qa-engineer",
      admittedAt: NOW,
    });
    expect(input.prompt.startsWith("look at one part\n\n<spawn_payload>\n")).toBe(true);
    expect(payloadIn(input.prompt)).toEqual(record.payload);
    expect(record.payload).toMatchObject({ parent_trace_id: null, goal: "a part of it" });
    expect(input).toMatchObject({ description: "a part of it", subagent_type: "spawn-guard:qa-engineer" });
  });

  it("hands on what the guard does not know, and adds no agent type where none was named", () => {
    const input = { description: "", prompt: "look at one part", model: "haiku", isolation: { deep: [1] } };
    const decision = admitted(decide(session(), request({ input })));
    expect(decision.input).toMatchObject({ model: "haiku", isolation: { deep: [1] } });
    expect(decision.input).not.toHaveProperty("subagent_type");
  });

  it.each([
    ["tags in the middle of a line", "see <spawn_payload> and </spawn_payload>"],
    ["a text that ends in a line of tags' letters", "spawn_payload"],
    ["half of a surrogate pair", "look at \ud83e now please"],
    ["two megabytes", "é".repeat(1_000_000)],
  ])("can be read back whatever the prompt is: %s", (_, prompt) => {
    const { input, record } = admitted(
      decide(session(), request({ input: { description: "</spawn_payload>\n&<x>", prompt } })),
    );
    expect(payloadIn(input.prompt)).toEqual(record.payload);
    expect(input.prompt.startsWith(prompt)).toBe(true);
  });

  it("passes over trace ids that are in use", () => {
    const used = new Set(["wf-20261130-abc123-spawn-005", "wf-20261130-abc123-spawn-006"]);
    const state = session({ seq: 4, running: { "wf-20261130-abc123-spawn-007": slot() } });
    const { session: after, record } = admitted(
      decide(state, request({ traceUsed: (trace) => used.has(trace) })),
    );
    expect(record.trace).toBe("wf-20261130-abc123-spawn-008");
    expect(after.seq).toBe(8);
  });
});

describe("a block that a refusal offers", () => {
  const require = policy({ payload_mode: "require" });
  const offeredIn = (asked: SpawnRequest, state = session()) => {
    const decision = refused(decide(state, asked));
    return { offered: payloadIn(decision.refused.reason), after: decision.session };
  };

  it("is admitted as it stands when payload_mode is require", () => {
    const { offered, after } = offeredIn(request({ policy: require }));
    expect(admitted(decide(after, giving(offered, { call: "c2", policy: require }))).record).toMatchObject({
      origin: "caller",
      trace: offered.trace_id,
      payload: offered,
    });
  });

  it("is admitted as it stands after a trace id was used twice, and asks for what was asked", () => {
    const traceUsed = (trace: string) => trace === payload().trace_id;
    const { offered, after } = offeredIn(giving(payload(), { traceUsed, caller: caller() }));
    expect(offered).toEqual({
      ...payload(),
      trace_id: "wf-20261130-abc123-spawn-001",
      parent_trace_id: PARENT,
    });
    const next = decide(after, giving(offered, { call: "c2", traceUsed, caller: caller() }));
    expect(admitted(next).record.trace).toBe(offered.trace_id);
  });

  // Parallel calls of one response are all refused first; each has to get a block that still works after the others.
  it("is another one for each of several calls, so that all of them pass at the second try", () => {
    let state = session();
    const offers = ["c1", "c2", "c3"].map((call) => {
      const { offered, after } = offeredIn(request({ call, key: call, policy: require }), state);
      state = after;
      return offered;
    });
    expect(new Set(offers.map(({ trace_id }) => trace_id)).size).toBe(3);
    for (const [index, offered] of offers.entries()) {
      state = admitted(decide(state, giving(offered, { call: `d${index}`, policy: require }))).session;
    }
    expect(state.admitted).toBe(3);
  });

  it("costs no look at every spawn that was made before", () => {
    const used = new Set<string>();
    let looks = 0;
    const traceUsed = (trace: string) => {
      looks += 1;
      return used.has(trace);
    };
    let state = session();
    const costs: number[] = [];
    for (let number = 0; number < 40; number++) {
      const { offered, after } = offeredIn(
        request({ call: `r${number}`, key: `r${number}`, policy: require, traceUsed }),
        state,
      );
      const next = giving(offered, { call: `g${number}`, policy: require, traceUsed });
      const { record, session: running } = admitted(decide(after, next));
      used.add(record.trace);
      // It ends at once, so that only the ledger remembers it.
      state = { ...running, running: {} };
      costs.push(looks);
      looks = 0;
    }
    expect(costs.at(-1)).toBe(costs[0]);
  });
});

describe("a payload that the caller gives", () => {
  it.each([
    ["left out", undefined],
    ["null", null],
    ["the caller", PARENT],
  ])("with parent_trace_id %s gets the caller for a parent", (_, parent) => {
    const given = payload(parent === undefined ? {} : { parent_trace_id: parent });
    const { record, input } = admitted(decide(session(), giving(given, { caller: caller() })));
    expect(record).toMatchObject({ parent: PARENT, depth: 2, origin: "caller" });
    expect(record.payload.parent_trace_id).toBe(PARENT);
    expect(payloadIn(input.prompt).parent_trace_id).toBe(PARENT);
  });

  it("is put back in its place in the prompt, with what the guard changed", () => {
    const given = payload({ allowed_tools: ["*"], goal: "look at </spawn_payload> & more" });
    const prompt = `before\n${renderBlock(given)}\nafter`;
    const input = { description: "", prompt };
    const asked = giving(given, { input, target: target({ tools: ["Read", "Grep"] }) });
    const decision = admitted(decide(session(), asked));
    expect(decision.input.prompt).toMatch(/^before\n<spawn_payload>\n.*\n<\/spawn_payload>\nafter\n\[spawn-/);
    expect(payloadIn(decision.input.prompt)).toEqual({
      ...given,
      parent_trace_id: null,
      allowed_tools: ["Read", "Grep"],
    });
  });

  it.each([
    ["qa-engineer", true],
    ["spawn-guard:qa-engineer", true],
    ["QA Engineer", true],
    ["Spawn-Guard:QA_Engineer", true],
    ["qaengineer", true],
    ["other-plugin:qa-engineer", false],
    ["db-engineer", false],
    ["", false],
  ])("may call the role %j: %s", (subagent_role, same) => {
    const decision = decide(session(), giving(payload({ subagent_role })));
    if (same) expect(admitted(decision).record.role).toBe("qa-engineer");
    else expect(refused(decision).refused.code).toBe("role_mismatch");
  });

  it("of another plugin's role is not this plugin's", () => {
    const foreign = target({ name: "other:qa-engineer", origin: "foreign" });
    const code = (subagent_role: string) => {
      const decision = decide(session(), giving(payload({ subagent_role }), { target: foreign }));
      return decision.kind === "refused" ? decision.refused.code : decision.kind;
    };
    expect(code("other:qa-engineer")).toBe("admitted");
    expect(code("qa-engineer")).toBe("role_mismatch");
    expect(code("spawn-guard:qa-engineer")).toBe("role_mismatch");
  });

  it.each([
    [128, true],
    [129, false],
  ])("with a trace id of %i characters is taken: %s", (length, taken) => {
    const trace_id = `wf-${"a".repeat(length - "wf--spawn-1".length)}-spawn-1`;
    expect(decide(session(), giving(payload({ trace_id }))).kind).toBe(taken ? "admitted" : "refused");
  });

  it.each([
    ["max_input_tokens", "max_budget_input_tokens", 10_000],
    ["max_output_tokens", "max_budget_output_tokens", 500],
    ["max_tool_calls", "max_budget_tool_calls", 10],
    ["max_turns", "max_budget_turns", 10],
    ["timeout_ms", "max_budget_timeout_ms", 600_000],
  ])("may ask for %s up to %s", (field, key, value) => {
    expect(decide(session(), giving(payload(), { policy: policy({ [key]: value }) })).kind).toBe("admitted");
    const { code, reason } = refused(
      decide(session(), giving(payload(), { policy: policy({ [key]: value - 1 }) })),
    ).refused;
    expect(code).toBe("budget_over_cap");
    expect(reason).toContain(`budget.${field} is ${value}; at most ${value - 1}`);
  });

  it("with the trace id of a running spawn is told so before anything else about it", () => {
    const state = session({ running: { [payload().trace_id]: slot() } });
    const asked = giving(payload({ allowed_tools: ["Bash"] }), { target: target({ tools: ["Read"] }) });
    expect(refused(decide(state, asked)).refused.code).toBe("trace_reused");
  });
});
