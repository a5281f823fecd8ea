import { describe, expect, it } from "vitest";
import { contextSlice, renderContext } from "../../../src/context/context-slice.ts";
import { roleWords, stem } from "../../../src/context/role-words.ts";
import { aRole, WRAPPED_AT } from "../payload/samples.ts";

const source = (text: string, file = "CLAUDE.md", group = file) => ({
  label: `L2:${file}`,
  file,
  group,
  text,
});

function linesOf(text: string, maxTokens: number): [number, number][] {
  return contextSlice(aRole(), [source(text)], maxTokens, WRAPPED_AT, []).sources[0]?.lines ?? [];
}

const filler = (title: string) => `## ${title}\n\n${"Buttons are round and friendly. ".repeat(20)}\n`;

describe("what is chosen for a role", () => {
  it("is what has its words, not what stands first", () => {
    const text = `${filler("Colours")}${filler("Fonts")}## Storage\n\nWe use postgres; each migration is reversible.\n${filler("Icons")}`;
    expect(linesOf(text, 120)).toEqual([[7, 9]]);
  });

  it("counts a heading for more than a mention, and the headings above too", () => {
    const mention = `## Style\n\nNot about the database at all. ${"Buttons are round. ".repeat(15)}\n`;
    const text = `${mention}## Database\n\n### Naming\n\nSingular names in snake case, always. ${"No prefix. ".repeat(20)}\n`;
    expect(linesOf(text, 160)[0]?.[0]).toBe(4);
  });

  it("finds the role's words in text of another language", () => {
    const text = `## 色\n\n${"ボタンは丸いです。".repeat(40)}\n\n## 保存\n\n全てのデータはPostgreSQLに保存し、移行は可逆にします。\n`;
    expect(linesOf(text, 180)).toEqual([[5, 7]]);
  });

  it("is the beginning of a source that has nothing to do with the role, and that is said", () => {
    const slice = contextSlice(
      aRole(),
      [source("# Hello\n\nWelcome."), source("use postgres", "AGENTS.md")],
      300,
      WRAPPED_AT,
      [],
    );
    expect(slice.sources.map(({ matters, lines }) => ({ matters, lines }))).toEqual([
      { matters: false, lines: [[1, 3]] },
      { matters: true, lines: [[1, 1]] },
    ]);
    expect(renderContext(slice)).toContain("- CLAUDE.md: 1-3 (its beginning)\n- AGENTS.md: 1\n");
  });

  it("shares one place among the files of a group", () => {
    const memory = [source("use mysql", "memory/a.md", "memory"), source("nothing", "memory/b.md", "memory")];
    expect(contextSlice(aRole(), memory, 1000, WRAPPED_AT, []).sources.map(({ file }) => file)).toEqual([
      "memory/a.md",
    ]);
  });

  it("says what is empty and what is left out", () => {
    const many = Array.from({ length: 6 }, (_, index) => source("use postgres", `f${index}.md`));
    const { notes, sources } = contextSlice(aRole(), [source(" \n"), ...many], 100, WRAPPED_AT, ["before"]);
    expect(notes.slice(0, 2)).toEqual(["before", "CLAUDE.md is empty"]);
    expect(notes.at(-1)).toBe("f5.md is left out: 100 tokens hold no snippet of it");
    expect(sources.map(({ file }) => file)).toEqual(["f0.md"]);
  });
});

describe("a role's words", () => {
  it("are its stack words, then those of its description", () => {
    const words = roleWords(aRole({ description: "Use for queries and locked tables." }));
    expect(words.get("postgres")).toBe(undefined);
    expect(words.get(stem("postgres"))).toBe(4);
    expect(words.get("procedure")).toBe(2);
    expect([words.get("query"), words.get("table"), words.get("for"), words.get("use")]).toEqual([
      1,
      1,
      undefined,
      undefined,
    ]);
  });

  it.each([
    ["queries", "query"],
    ["indexes", "index"],
    ["tables", "table"],
    ["class", "class"],
    ["aws", "aws"],
    ["データ", "データ"],
  ])("leave the number of %s out: %s", (word, plain) => {
    expect(stem(word)).toBe(plain);
  });
});
