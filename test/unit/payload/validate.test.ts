import { describe, expect, it } from "vitest";
import { formatProblems } from "../../../src/payload/format-problems.ts";
import { checkContract, checkPayload, MAX_DEPTH, MAX_ENTRIES } from "../../../src/payload/validate.ts";
import { aPayload } from "./samples.ts";

function problemsOf(value: unknown): string {
  const checked = checkPayload(value);
  return checked.ok ? "ok" : formatProblems(checked.problems);
}

function withBudget(changes: Record<string, unknown>) {
  return { ...aPayload(), budget: { ...aPayload().budget, ...changes } };
}

/** Not a measure: what goes wrong here goes on for minutes. */
const HANGS = { timeout: 5_000 };

describe("checkPayload", () => {
  it("accepts a payload and hands it back typed", () => {
    const payload = aPayload();
    expect(checkPayload(payload)).toEqual({ ok: true, payload });
  });

  it("accepts a payload with only the required fields", () => {
    const { trace_id, subagent_role, goal, constraints, allowed_tools, budget } = aPayload();
    const { retry_budget: _, ...required } = budget;
    expect(problemsOf({ trace_id, subagent_role, goal, constraints, allowed_tools, budget: required })).toBe(
      "ok",
    );
  });

  it.each([
    ["max_input_tokens", 100, 200_000],
    ["max_output_tokens", 50, 8192],
    ["max_tool_calls", 1, 100],
    ["max_turns", 1, 50],
    ["timeout_ms", 30_000, 3_600_000],
    ["retry_budget", 0, 3],
  ])("holds budget.%s between %i and %i", (field, low, high) => {
    expect(problemsOf(withBudget({ [field]: low }))).toBe("ok");
    expect(problemsOf(withBudget({ [field]: high }))).toBe("ok");
    expect(problemsOf(withBudget({ [field]: low - 1 }))).toBe(
      `budget.${field} is ${low - 1}; at least ${low}`,
    );
    expect(problemsOf(withBudget({ [field]: high + 1 }))).toBe(
      `budget.${field} is ${high + 1}; at most ${high}`,
    );
    expect(problemsOf(withBudget({ [field]: low + 0.5 }))).toContain(`budget.${field} is ${low + 0.5}`);
    expect(problemsOf(withBudget({ [field]: String(low) }))).toBe(
      `budget.${field} is "${low}"; has to be a whole number`,
    );
    expect(problemsOf(withBudget({ [field]: null }))).toBe(
      `budget.${field} is null; has to be a whole number`,
    );
  });

  it.each([
    ["9 characters", "123456789", false],
    ["10 characters", "1234567890", true],
    ["1000 characters", "x".repeat(1000), true],
    ["1001 characters", "x".repeat(1001), false],
    ["9 characters of two units each", "😀".repeat(9), false],
    ["10 characters of two units each", "😀".repeat(10), true],
    ["1000 characters of two units each", "😀".repeat(1000), true],
    ["1001 characters of two units each", "😀".repeat(1001), false],
  ])("counts the goal in code points: %s", (_, goal, ok) => {
    expect(checkPayload(aPayload({ goal })).ok).toBe(ok);
  });

  it.each([
    ["wf-20260427-abc123-spawn-001", true],
    ["hook-1-step-0", true],
    ["eval-a-b-C-spawn-99999", true],
    ["ralf-x-spawn-1", true],
    ["wf-20260427-abc123-spawn-", false],
    ["wf--spawn-1", false],
    ["wf-a_b-spawn-1", false],
    ["xx-a-spawn-1", false],
    ["wf-a-spawn-1\n", false],
    [" wf-a-spawn-1", false],
    ["wf-a-spawn-1-extra", false],
  ])("trace ids: %j is %s", (id, ok) => {
    expect(checkPayload(aPayload({ trace_id: id })).ok).toBe(ok);
    expect(checkPayload(aPayload({ parent_trace_id: id })).ok).toBe(ok);
  });

  it.each<[string, unknown, string]>([
    ["no object", null, "payload is null; has to be an object"],
    ["a list", [], "payload is []; has to be an object"],
    [
      "an unknown field near a known one",
      { ...aPayload(), traceId: 1 },
      "traceId is not a known field; did you mean trace_id?",
    ],
    ["a field that is missing", { ...aPayload(), goal: undefined }, "goal is missing; it is required"],
    ["no tools", aPayload({ allowed_tools: [] }), "allowed_tools has 0 entries; at least 1"],
    ["an empty tool", aPayload({ allowed_tools: [""] }), 'allowed_tools[0] "" has 0 characters; at least 1'],
    [
      "a short constraint",
      aPayload({ constraints: ["abcde", "abcd"] }),
      'constraints[1] "abcd" has 4 characters; at least 5',
    ],
    [
      "21 constraints",
      aPayload({ constraints: Array(21).fill("abcde") }),
      "constraints has 21 entries; at most 20",
    ],
    ["a state that is a list", { ...aPayload(), state_slice: [] }, "state_slice is []; has to be an object"],
    [
      "a wrong known state member",
      aPayload({ state_slice: { active_files: "a.ts" } }),
      'state_slice.active_files is "a.ts"; has to be a list',
    ],
    [
      "an untrusted input that is only named",
      { ...aPayload(), untrusted_inputs: [{ source: "web" }] },
      "untrusted_inputs[0].wrapped is missing; it is required",
    ],
    ["required as a text", { ...aPayload(), required: "yes" }, 'required is "yes"; has to be true or false'],
  ])("names %s", (_, value, expected) => {
    expect(problemsOf(value)).toBe(expected);
  });

  it("lists the known fields when an unknown one is near to none", () => {
    expect(problemsOf(withBudget({ colour: 1 }))).toBe(
      "budget.colour is not a known field; known are max_input_tokens, max_output_tokens, max_tool_calls, max_turns, timeout_ms, retry_budget",
    );
  });

  it("takes a __proto__ key for an unknown field and changes no prototype", () => {
    const text = JSON.stringify(aPayload()).replace("{", '{"__proto__":{"polluted":true},');
    expect(problemsOf(JSON.parse(text))).toContain("__proto__ is not a known field");
    expect(Object.hasOwn(Object.prototype, "polluted")).toBe(false);
  });

  it("allows other members of the state slice, to a bounded depth", () => {
    const nested = (levels: number): unknown => (levels === 0 ? 1 : { in: nested(levels - 1) });
    const withState = (levels: number) => aPayload({ state_slice: { in: nested(levels - 2) } });
    expect(problemsOf(aPayload({ state_slice: { anything: [1, { a: null }] } }))).toBe("ok");
    expect(problemsOf(withState(MAX_DEPTH))).toBe("ok");
    expect(problemsOf(withState(MAX_DEPTH + 1))).toBe(
      "payload is nested too deep; at most 100 levels of lists and objects",
    );
  });

  it("never throws for what JSON can hold, however deep", () => {
    const deep: unknown = JSON.parse(`${"[".repeat(200_000)}${"]".repeat(200_000)}`);
    expect(problemsOf(deep)).toContain("nested too deep");
    expect(problemsOf({ ...aPayload(), goal: deep })).toContain("nested too deep");
    expect(problemsOf(aPayload({ state_slice: { deep } }))).toContain("nested too deep");
  });

  it.each<[string, object]>([
    ["constraints", { constraints: Array(3_000_000).fill("") }],
    ["unknown fields", Object.fromEntries(Array.from({ length: 300_000 }, (_, i) => [`field${i}`, 1]))],
    [
      "budget fields",
      { budget: Object.fromEntries(Array.from({ length: 300_000 }, (_, i) => [`b${i}`, 1])) },
    ],
    ["tools", { allowed_tools: Array(MAX_ENTRIES).fill("") }],
    ["state", { state_slice: { active_files: Array(90_000).fill(1) } }],
  ])("bounds the work on hostile %s", HANGS, (_, changes) => {
    const value = { ...aPayload(), ...changes };
    const checked = checkPayload(value);
    expect(checked.ok ? 0 : checked.problems.length).toBeGreaterThan(0);
    expect(checked.ok ? 0 : checked.problems.length).toBeLessThanOrEqual(100);
  });

  it("cuts values to 60 characters, whole characters only", () => {
    const problems = problemsOf(aPayload({ goal: "😀".repeat(2000) }));
    expect(problems).toContain("goal");
    expect(() => encodeURIComponent(problems)).not.toThrow();
    expect(Array.from(problems).length).toBeLessThan(120);
  });

  it("names every problem, and shows ten of them", () => {
    const checked = checkPayload(aPayload({ constraints: Array(20).fill("no") }));
    expect(checked.ok ? 0 : checked.problems.length).toBe(20);
    expect(checked.ok ? "" : formatProblems(checked.problems)).toMatch(/\nand 10 more$/);
  });
});

describe("checkContract", () => {
  const contract = {
    trace_id: "wf-20260427-abc123-spawn-001",
    status: "ok",
    result: { summary: "the migration is designed" },
  };

  it.each<[string, object]>([
    ["only what is required", {}],
    [
      "everything",
      {
        tokens_used: { input: 1, output: 0 },
        tool_calls: 3,
        result: { summary: "x".repeat(2000), files_changed: ["a.sql"], diff_size_lines: 12 },
        evidence: ["a.sql:3", { file: "a.sql", line: 3 }],
        risks: ["slow"],
        next_actions: ["run it"],
        needs_clarification: ["which database?"],
      },
    ],
    ["null for no question", { needs_clarification: null }],
  ])("accepts %s", (_, changes) => {
    expect(checkContract({ ...contract, ...changes })).toEqual({
      ok: true,
      contract: { ...contract, ...changes },
    });
  });

  it.each(["in_progress", "ok", "needs_clarification", "failed", "partial"])(
    "knows the status %s",
    (status) => {
      expect(checkContract({ ...contract, status }).ok).toBe(true);
    },
  );

  it.each<[string, object, string]>([
    [
      "another status",
      { status: "done" },
      'status is "done"; has to be one of in_progress, ok, needs_clarification, failed, partial',
    ],
    ["no result", { result: undefined }, "result is missing; it is required"],
    [
      "a short summary",
      { result: { summary: "too short" } },
      'result.summary "too short" has 9 characters; at least 10',
    ],
    ["a long summary", { result: { summary: "x".repeat(2001) } }, "has 2001 characters; at most 2000"],
    ["an unknown field", { notes: "" }, "notes is not a known field"],
    [
      "an unknown result field",
      { result: { ...contract.result, file_changed: [] } },
      "result.file_changed is not a known field; did you mean files_changed?",
    ],
    ["negative tokens", { tokens_used: { input: -1 } }, "tokens_used.input is -1; at least 0"],
  ])("names %s", (_, changes, expected) => {
    const checked = checkContract({ ...contract, ...changes });
    expect(checked.ok ? "ok" : formatProblems(checked.problems)).toContain(expected);
  });
});
