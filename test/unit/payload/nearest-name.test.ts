import { describe, expect, it } from "vitest";
import { nearestName } from "../../../src/payload/nearest-name.ts";

describe("nearestName", () => {
  it.each<[string, string[], string | null]>([
    ["maxTokens", ["max_tokens", "max_turns"], "max_tokens"],
    ["max-turn", ["max_tokens", "max_turns"], "max_turns"],
    ["untrustd", ["untrusted"], "untrusted"],
    ["tsk", ["task"], "task"],
    ["tools", ["task"], null],
    ["colour", ["task", "role"], null],
    ["", ["task", "role"], null],
    ["x".repeat(100_000), ["task"], null],
  ])("of %j among %j is %j", (name, known, expected) => {
    expect(nearestName(name, known)).toBe(expected);
  });
});
