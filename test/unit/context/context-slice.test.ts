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
    const { sources, notes } = contextSlice(aRole(), memory, 1000, WRAPPED_AT, []);
    expect(sources.map(({ file }) => file)).toEqual(["memory/a.md"]);
    expect(notes).toEqual(["memory/b.md is left out: nothing that db-engineer works on stands in it"]);
  });

  it("names ten of the files that it leaves out, and counts the others", () => {
    const memory = Array.from({ length: 15 }, (_, index) =>
      source("nothing", `memory/${index}.md`, "memory"),
    );
    const { notes } = contextSlice(aRole(), memory, 1000, WRAPPED_AT, []);
    expect(notes).toHaveLength(1);
    expect(notes[0]).toMatch(/^memory\/1\.md, .*memory\/10\.md and 4 more are left out: nothing that/);
  });

  it("is all of small files where their count is the bound, and marks what it cuts below that", () => {
    const files = [
      source("# App\n\nUse postgres.\n\n## Schema\n\nEach migration is reversible.\n\nNo triggers.\n"),
      source("Use postgres.\n", "AGENTS.md"),
      source("# Architecture\n\nOne postgres database.\n", "ARCHITECTURE.md"),
    ];
    const within = (tokens: number) => contextSlice(aRole(), files, tokens, WRAPPED_AT, []);
    const whole = within(50_000);
    expect(within(whole.tokens_estimate)).toEqual({ ...whole, max_tokens: whole.tokens_estimate });
    const smaller = within(155);
    expect(smaller.sources).toHaveLength(3);
    expect(renderContext(smaller)).toMatch(/\[lines \d+-\d+, cut from \d+-\d+/);
  });

  it("says of a long section's part what it is cut from", () => {
    const paragraphs = Array.from({ length: 60 }, () => "Each migration of postgres is reversible.").join(
      "\n\n",
    );
    const slice = contextSlice(aRole(), [source(`# Data\n\n${paragraphs}\n`)], 50_000, WRAPPED_AT, []);
    expect(renderContext(slice)).toContain("[lines 1-55, cut from 1-121]");
  });

  it("says what is empty and what is left out", () => {
    const many = Array.from({ length: 6 }, (_, index) => source("use postgres", `f${index}.md`));
    const { notes, sources } = contextSlice(aRole(), [source(" \n"), ...many], 100, WRAPPED_AT, ["before"]);
    expect(notes.slice(0, 2)).toEqual(["before", "CLAUDE.md is empty"]);
    expect(notes.at(-1)).toBe("f2.md, f3.md, f4.md, f5.md are left out: 100 tokens hold no snippet of them");
    expect(sources.map(({ file }) => file)).toEqual(["f0.md", "f1.md"]);
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
