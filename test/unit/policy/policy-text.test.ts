import { describe, expect, it } from "vitest";
import { DEFAULT_POLICY } from "../../../src/policy/policy-keys.ts";
import { textProblems } from "../../../src/policy/policy-text.ts";

const problems = (members: object) => textProblems({ ...DEFAULT_POLICY, ...members });

describe("session_intent", () => {
  it.each(["*", "Read", "Read, Bash(git log:*)", "Rread", "mcp__x__*", "Agent(a, b)"])(
    "may be %s",
    (given) => {
      expect(problems({ session_intent: given })).toEqual([]);
    },
  );

  it.each([
    [",", "at least one tool rule"],
    [" ", "at least one tool rule"],
    ["Bash(git", "Bash(git has a bracket that is not closed"],
    ["Read, Bash(git", "Bash(git has a bracket that is not closed"],
    ["Read()", "Read() has empty brackets"],
    ["a b", "a b is no tool name"],
    ['["Read"]', "is no tool name"],
  ])("is named where it cannot be read, with what follows from that: %j", (given, problem) => {
    const [said = "", ...more] = problems({ session_intent: given });
    expect(more).toEqual([]);
    expect(said.replaceAll('"', "")).toContain(problem);
    expect(said).toMatch(/^session_intent is .* No spawn is admitted until you mend it$/);
  });
});

describe("audit_key_file", () => {
  it.each(["", "/key", "C:\\key", "c:/key", "\\\\server\\key"])("may be %s", (given) => {
    expect(problems({ audit_key_file: given })).toEqual([]);
  });

  it.each(["key", "./key", "../key", "~/key", "C:key", "\\key"])(
    "in no fixed place is named: %s",
    (given) => {
      expect(problems({ audit_key_file: given })).toEqual([
        expect.stringMatching(/^audit_key_file is .*it must be an absolute path\. Receipts are not signed/),
      ]);
    },
  );
});
