import { describe, expect, it } from "vitest";
import { type Answer, renderAnswer, withMessage } from "../../../src/hooks/answer.ts";

describe("what goes to standard output (case 30)", () => {
  const rows: [string, Answer, unknown][] = [
    ["nothing to say is silence", {}, null],
    [
      "a refusal",
      { deny: "why" },
      {
        hookSpecificOutput: {
          hookEventName: "PreToolUse",
          permissionDecision: "deny",
          permissionDecisionReason: "why",
        },
      },
    ],
    [
      "a question to the person",
      { ask: "why" },
      {
        hookSpecificOutput: {
          hookEventName: "PreToolUse",
          permissionDecision: "ask",
          permissionDecisionReason: "why",
        },
      },
    ],
    [
      "a changed input, without the word allow",
      { updatedInput: { a: 1 } },
      { hookSpecificOutput: { hookEventName: "PreToolUse", updatedInput: { a: 1 } } },
    ],
    [
      "a refusal wins over a question and a changed input",
      { deny: "why", ask: "or", updatedInput: { a: 1 } },
      {
        hookSpecificOutput: {
          hookEventName: "PreToolUse",
          permissionDecision: "deny",
          permissionDecisionReason: "why",
        },
      },
    ],
    [
      "context",
      { context: "so" },
      { hookSpecificOutput: { hookEventName: "PreToolUse", additionalContext: "so" } },
    ],
    ["a next instruction", { block: "go on" }, { decision: "block", reason: "go on" }],
    ["an end", { halt: "enough" }, { continue: false, stopReason: "enough" }],
    ["a word to the person", { message: "look" }, { systemMessage: "look" }],
  ];
  it.each(rows)("%s", (_, answer, output) => {
    expect(renderAnswer("PreToolUse", answer)).toEqual(output);
  });

  it("is cut where the host would make a preview of it", () => {
    const output = renderAnswer("PostToolBatch", { context: "x".repeat(20_000) });
    expect(output).toMatchObject({ hookSpecificOutput: { additionalContext: "x".repeat(9_000) } });
  });

  it("joins what there is to say to the person", () => {
    expect(withMessage({}, null)).toEqual({});
    expect(withMessage({ message: "one" }, null)).toEqual({ message: "one" });
    expect(withMessage({}, "two")).toEqual({ message: "two" });
    expect(withMessage({ message: "one", deny: "no" }, "two")).toEqual({ message: "one\ntwo", deny: "no" });
  });
});
