import { describe, expect, it } from "vitest";
import { readMarkdown } from "../../../src/context/markdown-sections.ts";

/** `first-last heading > heading` */
function outline(text: string): string[] {
  return readMarkdown(text).sections.map(({ firstLine, lastLine, headings }) =>
    `${firstLine}-${lastLine} ${headings.join(" > ")}`.trimEnd(),
  );
}

describe("sections", () => {
  it.each<[string, string, string[]]>([
    ["nothing", "", ["1-1"]],
    ["no heading", "a\n\nb", ["1-3"]],
    ["text before the first heading", "a\n# A\nb", ["1-1", "2-3 A"]],
    [
      "nested headings",
      "# A\n## B\nx\n### C\n## D\n# E",
      ["1-3 A > B", "4-4 A > B > C", "5-5 A > D", "6-6 E"],
    ],
    ["a level that is left out", "# A\n#### B\n## C", ["1-2 A > B", "3-3 A > C"]],
    ["underlined headings", "A\n=\nx\n\nB\n-\ny", ["1-4 A", "5-7 A > B"]],
    ["a heading in a fence", "# A\n```sh\n# b\n```\n~~~\n# c\n~~~\n# D", ["1-7 A", "8-8 D"]],
    ["a fence in a fence", "````\n```\n# a\n```\n# b\n````\n# C", ["1-6", "7-7 C"]],
    ["a fence that is never closed", "# A\n```\n# b", ["1-3 A"]],
    ["a fence in a list", "- x\n  ```\n  # a\n  ```\n# B", ["1-4", "5-5 B"]],
    ["a heading in a quote and in a list", "> # a\n\n- # b\n# C", ["1-3", "4-4 C"]],
    ["a heading in a comment", "<!--\n# a\n-->\n# B", ["1-3", "4-4 B"]],
    ["indented code", "x\n\n    # a\n# B", ["1-3", "4-4 B"]],
    ["hash signs that are no heading", "#a\n####### b\n\\# c", ["1-3"]],
    ["frontmatter", "---\nname: x\n---\n# A", ["1-3", "4-4 A"]],
    ["a rule at the start", "---\n# A", ["1-1", "2-2 A"]],
    ["other languages", "# 設計\n## データ\n# Дизайн", ["1-2 設計 > データ", "3-3 Дизайн"]],
  ])("of %s", (_, text, expected) => {
    expect(outline(text)).toEqual(expected);
  });

  it("are the same whatever the line ends are, with a byte-order mark too", () => {
    const text = "# A\nx\n```\n# no\n```\n\nB\n--\ny\n";
    for (const end of ["\r\n", "\r"])
      expect(readMarkdown(`\ufeff${text.replaceAll("\n", end)}`)).toEqual(readMarkdown(text));
    expect(outline(text)).toEqual(["1-6 A", "7-10 A > B"]);
  });

  it("end, however the text is made", () => {
    for (const text of [
      "> ".repeat(50_000),
      "- ".repeat(50_000),
      "*a_ ".repeat(50_000),
      "[a](".repeat(50_000),
      "`a``b".repeat(50_000),
      "<!--\n".repeat(50_000),
      `${"> ".repeat(100)}a\n${"b\n".repeat(50_000)}`,
      "a\n=\n".repeat(50_000),
      "[a]: x '\n".repeat(50_000),
    ])
      expect(readMarkdown(text).sections.length).toBeGreaterThan(0);
  });
});
