import { describe, expect, it } from "vitest";
import { type AlwaysOnText, alwaysOnTexts, alwaysOnTokens } from "../../support/always-on-texts.ts";

const TEXTS = alwaysOnTexts("plugin");
const of = (kind: AlwaysOnText["kind"]) => TEXTS.filter((text) => text.kind === kind);

describe("what the plugin adds to every session, used or not", () => {
  it("is at most 1500 tokens", () => {
    expect(alwaysOnTokens(TEXTS)).toBeLessThanOrEqual(1500);
  });

  it.each([
    ["agent", 26, 1000],
    ["skill", 1, 500],
  ] as const)(
    "is for %ss, of which there are at least %i, at most %i tokens of it",
    (kind, least, tokens) => {
      expect(of(kind).length).toBeGreaterThanOrEqual(least);
      expect(alwaysOnTokens(of(kind))).toBeLessThanOrEqual(tokens);
    },
  );

  it.each(TEXTS)("says of $kind $name when to use it, in a line of its own", ({ name, text }) => {
    expect(name).toMatch(/^[a-z][a-z-]+$/);
    expect(text.length).toBeGreaterThanOrEqual(60);
    expect(text.length).toBeLessThanOrEqual(200);
    expect(text).toMatch(/^[A-Z][^\n]*\.$/);
  });

  it("has no two alike", () => {
    expect(new Set(TEXTS.map(({ text }) => text)).size).toBe(TEXTS.length);
  });
});

describe("alwaysOnTokens", () => {
  it.each([
    [[], 0],
    [[["ab", ""]], 1],
    [[["ab", "x"]], 2],
    [[["a", "x".repeat(5997)]], 1500],
    [[["a", "x".repeat(5998)]], 1501],
    [
      [
        ["a", "xx"],
        ["b", "xx"],
      ],
      4,
    ],
  ] as [[string, string][], number][])("counts %j as %i", (pairs, tokens) => {
    const texts = pairs.map(([name, text]) => ({ kind: "skill" as const, name, text }));
    expect(alwaysOnTokens(texts)).toBe(tokens);
  });
});
