import { describe, expect, it } from "vitest";
import { findBlock, renderBlock, replaceBlock } from "../../../src/payload/prompt-block.ts";
import { aPayload } from "./samples.ts";

const OPEN = "<spawn_payload>";
const CLOSE = "</spawn_payload>";

describe("renderBlock", () => {
  it("is tag, one line of JSON, tag", () => {
    const [open, json, close, ...rest] = renderBlock(aPayload()).split("\n");
    expect([open, close, rest]).toEqual([OPEN, CLOSE, []]);
    expect(JSON.parse(json ?? "")).toEqual(aPayload());
  });

  it("writes <, >, & and the line separators as escapes", () => {
    const block = renderBlock(aPayload({ goal: "a < b > c & d \u2028 e \u2029 f" }));
    expect(block).toContain("a \\u003c b \\u003e c \\u0026 d \\u2028 e \\u2029 f");
  });
});

describe("findBlock", () => {
  it.each<[string, string]>([
    ["an empty prompt", ""],
    ["a mention in a sentence", `Put ${OPEN} before it and ${CLOSE} after it.`],
    ["a mention at the start of a line", `${OPEN} opens it\n${CLOSE} closes it`],
    ["other letters", "<SPAWN_PAYLOAD>\n{}\n</SPAWN_PAYLOAD>"],
    ["attributes", '<spawn_payload id="1">\n{}\n</spawn_payload id="1">'],
    ["spaces inside the tag", "< spawn_payload >\n{}\n</ spawn_payload >"],
    ["a tag that a list marks", `- ${OPEN}\n- ${CLOSE}`],
  ])("finds none in %s", (_, prompt) => {
    expect(findBlock(prompt)).toEqual({ kind: "none" });
  });

  it.each<[string, string]>([
    ["alone", `${OPEN}\n{"a":1}\n${CLOSE}`],
    ["between lines", `before\n${OPEN}\n{"a":1}\n${CLOSE}\nafter`],
    ["with CRLF", `before\r\n${OPEN}\r\n{"a":1}\r\n${CLOSE}\r\nafter`],
    ["with spaces and tabs beside the tags", `  ${OPEN}\t\n{"a":1}\n\t${CLOSE} `],
    ["over several lines", `${OPEN}\n{\n  "a":\n  1\n}\n${CLOSE}`],
    ["beside a mention", `The block ${OPEN} follows.\n${OPEN}\n{"a":1}\n${CLOSE}\nNot ${OPEN} again.`],
  ])("finds the one %s", (_, prompt) => {
    expect(findBlock(prompt)).toMatchObject({ kind: "one", json: { a: 1 } });
  });

  it("counts several", () => {
    const block = `${OPEN}\n{}\n${CLOSE}\n`;
    expect(findBlock(block + block)).toEqual({ kind: "many", count: 2 });
    expect(findBlock(block + block + block)).toEqual({ kind: "many", count: 3 });
  });

  it.each<[string, string, string]>([
    ["never closed", `a\n${OPEN}\n{}`, "line 2 of the prompt opens a block that is never closed"],
    ["only closed", `a\nb\n${CLOSE}`, "line 3 of the prompt closes a block that was never opened"],
    [
      "nested",
      `${OPEN}\n${OPEN}\n{}\n${CLOSE}\n${CLOSE}`,
      "line 2 of the prompt opens a second block inside the first",
    ],
    [
      "closed twice",
      `${OPEN}\n{}\n${CLOSE}\n${CLOSE}`,
      "line 4 of the prompt closes a block that was never opened",
    ],
    [
      "not JSON",
      `\r\n${OPEN}\r\n{a:1}\r\n${CLOSE}`,
      "line 2 of the prompt opens a block whose inside is not one JSON value",
    ],
    ["empty", `${OPEN}\n${CLOSE}`, "line 1 of the prompt opens a block whose inside is not one JSON value"],
    [
      "two values",
      `${OPEN}\n{}\n{}\n${CLOSE}`,
      "line 1 of the prompt opens a block whose inside is not one JSON value",
    ],
    [
      "a whole one beside an open one",
      `${OPEN}\n{}\n${CLOSE}\n${OPEN}`,
      "line 4 of the prompt opens a block that is never closed",
    ],
  ])("says what is broken in a block that is %s", (_, prompt, problem) => {
    expect(findBlock(prompt)).toEqual({ kind: "broken", problem });
  });

  it("reads a prompt of megabytes and does not hang on it", { timeout: 5_000 }, () => {
    const prompt = `${" \t".repeat(500_000)}\n${"<spawn_payload\n".repeat(100_000)}`;
    expect(findBlock(prompt)).toEqual({ kind: "none" });
  });
});

describe("replaceBlock", () => {
  it("changes the block and not a character beside it", () => {
    const before = "Do $& this\r\n";
    const after = "\r\nand $1 that";
    const prompt = `${before}${renderBlock(aPayload())}${after}`;
    const found = findBlock(prompt);
    if (found.kind !== "one") throw new Error("the block was not found");
    const other = aPayload({ goal: "another goal with $& in it" });
    expect(replaceBlock(prompt, found, other)).toBe(`${before}${renderBlock(other)}${after}`);
  });
});
