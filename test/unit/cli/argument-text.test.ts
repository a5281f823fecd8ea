import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { splitArguments } from "../../../src/cli/argument-text.ts";

describe("splitArguments", () => {
  it.each<[string, string[]]>([
    ["", []],
    [" \t\r\n ", []],
    ["a", ["a"]],
    ["  a   b\tc\nd\r\ne  ", ["a", "b", "c", "d", "e"]],
    [`--role db-engineer --task "design it"`, ["--role", "db-engineer", "--task", "design it"]],
    [`--task='it''s'`, ["--task=its"]],
    [`--task='it'\\''s'`, ["--task=it's"]],
    [`'' "" a''`, ["", "", "a"]],
    [`a"b c"d'e f'g`, ["ab cde fg"]],
    [`"a\nb"`, ["a\nb"]],
    [`'a\nb'`, ["a\nb"]],
    [`'\\n \\" \\\\'`, ['\\n \\" \\\\']],
    [`"\\" \\\\ \\$ \\\` \\n \\'"`, [`" \\ $ \` \\n \\'`]],
    [`a\\ b \\"c\\' \\\\`, ["a b", `"c'`, "\\"]],
    ["a\\\nb", ["ab"]],
    ["a \\\n b", ["a", "b"]],
    ["a\\\r\nb", ["ab"]],
    [`"a\\\nb"`, ["ab"]],
    [
      "$(touch X) `touch X` ; | & * ~ # ! {a,b} $HOME > <",
      ["$(touch", "X)", "`touch", "X`", ";", "|", "&", "*", "~", "#", "!", "{a,b}", "$HOME", ">", "<"],
    ],
    [`"$(touch X) \`touch X\` $HOME"`, ["$(touch X) `touch X` $HOME"]],
    ["日本語 '😀 x'", ["日本語", "😀 x"]],
    ["a\\😀", ["a😀"]],
    ["a\u00a0b", ["a\u00a0b"]],
  ])("%j is %j", (text, argv) => {
    expect(splitArguments(text)).toEqual({ ok: true, argv });
  });

  it.each([
    [`a "b`, "the double quote at character 3 is never closed"],
    [`'`, "the single quote at character 1 is never closed"],
    [
      `--task it's`,
      "the single quote at character 10 is never closed; close it, or put a text with ' in it between double quotes",
    ],
    [
      `--task "a`,
      'the double quote at character 8 is never closed; close it, or write \\" for the character itself',
    ],
    [`😀 "`, "the double quote at character 3 is never closed"],
    [`"a\\"`, "the double quote at character 1 is never closed"],
    ["a\\", "the text ends with a backslash"],
  ])("refuses %j and says where", (text, problem) => {
    const split = splitArguments(text);
    expect(split.ok ? split.argv : split.problem).toContain(problem);
  });

  const word = fc
    .array(
      fc.oneof(
        fc.constantFrom("'", '"', "\\", "$", "`", " ", "\n", "\r\n", "\t", "$(x)", ";", "*"),
        fc.string({ unit: "binary" }),
      ),
      { maxLength: 8 },
    )
    .map((parts) => parts.join(""));
  const quoters: [string, (text: string) => string][] = [
    ["single quotes", (text) => `'${text.replaceAll("'", "'\\''")}'`],
    ["double quotes", (text) => `"${text.replace(/["\\$`]/g, "\\$&")}"`],
    [
      "backslashes",
      (text) => (text === "" ? "''" : text.replace(/[^\n]/gu, "\\$&").replaceAll("\n", "'\n'")),
    ],
  ];

  it.each(quoters)("gives back any arguments that were quoted with %s", (_, quote) => {
    const separator = fc.constantFrom(" ", "\n", "\t ", " \r\n");
    fc.assert(
      fc.property(fc.array(word, { maxLength: 6 }), separator, (argv, separator) => {
        expect(splitArguments(argv.map(quote).join(separator))).toEqual({ ok: true, argv });
      }),
      { numRuns: 500 },
    );
  });

  it("never throws, and gives words that are in the text", () => {
    fc.assert(
      fc.property(word, (text) => {
        const split = splitArguments(text);
        if (!split.ok) return;
        const letters = (value: string) => value.replace(/[\s'"\\]/g, "");
        expect(letters(split.argv.join(""))).toBe(letters(text));
      }),
    );
  });
});
