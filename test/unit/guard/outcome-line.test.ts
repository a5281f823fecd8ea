import { describe, expect, it } from "vitest";
import { outcomeLine } from "../../../src/guard/outcome-line.ts";
import { OUTCOMES, type SpawnRecord } from "../../../src/ledger/spawn-record.ts";
import { deepFreeze, metered, NOW, PARENT, record } from "./spawn-states.ts";

function line(members: Partial<SpawnRecord>, failures = 0): string {
  const meter = metered(4_000, 300, { toolCalls: 3, turns: 2, ranMs: 61_400 });
  return outcomeLine(deepFreeze(record({ meter, phase: "ended", ...members })), failures, NOW);
}

const USED =
  "used 4000 input and 300 output tokens, 3 tool calls, 2 turns, 61 s; left 6000 input tokens, 7 tool calls, 539 s";

describe("the line that the caller gets", () => {
  it("when a spawn has completed", () => {
    expect(line({ outcome: "completed", detail: "whatever" })).toBe(
      `spawn-guard: ${PARENT} (qa-engineer) completed; ${USED}`,
    );
  });

  it.each([
    ["failed", "failed (why)"],
    ["stopped", "stopped before it was done (why)"],
    ["turn_limit", "stopped at the host's turn limit, its report is partial (why)"],
    ["budget_exhausted", "ran out of its budget, its report is partial (why)"],
    ["never_started", "never started (why)"],
    ["cancelled", "was cancelled before it started (why)"],
    ["timed_out", "showed no sign of life for its timeout (why)"],
    ["session_ended", "ended with the session (why)"],
  ] as const)("for outcome %s says so", (outcome, words) => {
    expect(line({ outcome, detail: "why" }, 1)).toContain(`(qa-engineer) ${words}; ${USED}`);
  });

  it("is another one for each outcome", () => {
    expect(new Set(OUTCOMES.map((outcome) => line({ outcome }, 1))).size).toBe(OUTCOMES.length);
  });

  it("for a spawn that still runs says that it runs", () => {
    expect(line({ outcome: null })).toContain("(qa-engineer) runs; ");
  });

  it.each([
    [{ state: "valid", status: "partial", problem: null }, "; contract partial; "],
    [
      { state: "valid", status: "ok", problem: "says 9 tool calls, measured 3" },
      "; contract ok (says 9 tool calls, measured 3); ",
    ],
    [{ state: "missing", status: null, problem: "there is none" }, "; contract missing (there is none); "],
    [{ state: "invalid", status: null, problem: "not JSON" }, "; contract invalid (not JSON); "],
  ] as const)("tells of the contract: %j", (contract, words) => {
    expect(line({ outcome: "completed", contract: { ...contract, asked: false } })).toContain(words);
  });

  it.each([
    [0, 1, "retry_budget 0 is used up: do not retry"],
    [1, 1, "1 failed so far for this role and goal, 1 of 1 retries left"],
    [1, 2, "2 failed so far for this role and goal, retry_budget 1 is used up: do not retry"],
    [3, 2, "2 failed so far for this role and goal, 2 of 3 retries left"],
    [undefined, 1, "1 of 1 retries left"],
  ])("tells what is left of retry_budget %s after %i failures", (retry_budget, failures, words) => {
    const { payload } = record();
    const { retry_budget: _, ...rest } = payload.budget;
    const budget = retry_budget === undefined ? rest : { ...rest, retry_budget };
    expect(line({ outcome: "failed", payload: { ...payload, budget } }, failures)).toContain(words);
    expect(line({ outcome: "completed", payload: { ...payload, budget } }, failures)).not.toContain("retr");
  });

  it.each([
    ["failed", true],
    ["partial", false],
    ["needs_clarification", false],
    ["ok", false],
  ])("tells what is left of it after a contract that says %s: %s", (status, told) => {
    const contract = { state: "valid", status, problem: null, asked: false } as const;
    expect(line({ outcome: "completed", contract }, 1).includes("1 of 1 retries left")).toBe(told);
    expect(line({ outcome: "budget_exhausted", contract }, 1)).not.toContain("retr");
  });

  it("never says that less than nothing is left", () => {
    const meter = metered(99_000, 300, { toolCalls: 300, ranMs: 9_000_000 });
    expect(line({ outcome: "budget_exhausted", meter })).toContain("left 0 input tokens, 0 tool calls, 0 s");
  });
});
