import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { mayHold, readHeader } from "../../../src/roles/agent-header.ts";

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "header-"));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function header(text: string | Uint8Array): string | null {
  const file = join(folder, "x.md");
  writeFileSync(file, text);
  return readHeader(file);
}

describe("what stands at the beginning of a file", () => {
  it.each<[string, string | Uint8Array, string | null]>([
    ["an agent's", "---\nname: x\ntools: Read\n---\nbody", "name: x\ntools: Read"],
    ["with a byte order mark and other line ends", "\uFEFF---\r\nname: x\r\n---\r\n", "name: x"],
    ["of a short text", "# Notes\n", ""],
    ["of nothing", "", ""],
    ["never closed", "---\nname: x\n", null],
    ["not at the top", "\n---\nname: x\n---\n", null],
    ["of another language", "---js\nname: x\n---\n", null],
    ["of a long text, which may begin anywhere", `${"\n".repeat(20_000)}---\nname: x\n---\n`, null],
    ["that is longer than is read", `---\nd: ${"x".repeat(20_000)}\nname: x\n---\n`, null],
    ["in UTF-16", Buffer.from("---\nname: x\n---\n", "utf16le"), ""],
  ])("%s", (_, text, expected) => {
    expect(header(text)).toBe(expected);
  });

  describe.each([1_024, 16_384])("around byte %i, where reading stops", (bound) => {
    const offsets = Array.from({ length: 13 }, (_, index) => bound - 8 + index);
    const upTo = (at: number) => `---\nd: ${"x".repeat(at - 8)}\n`;

    it.each(offsets)("a fence at %i is told from a line that only begins like one", (at) => {
      const before = upTo(at);
      expect(before).toHaveLength(at);
      const found = header(`${before}---\nname: body\n`);
      if (bound < 16_384 || at + 4 <= bound) expect(found).toBe(before.slice(4, -1));
      else expect(found).toBeNull();
      expect(header(`${before}---x\nname: y\n---\n`)).toBeNull();
    });

    it.each(offsets)("a letter of three bytes at %i stays whole", (at) => {
      const found = header(`${upTo(at).slice(0, -1)}検\n---\n`);
      expect(found === null || found.endsWith("検")).toBe(true);
    });
  });

  it("is null where a file has become a pipe, which is not waited for, or is gone", () => {
    const pipe = join(folder, "pipe.md");
    execFileSync("mkfifo", [pipe]);
    expect(readHeader(pipe)).toBeNull();
    expect(readHeader(join(folder, "gone.md"))).toBeNull();
  });
});

describe("a file that need not be read for a type", () => {
  it.each<[string, string | null, string, string, boolean]>([
    ["names another", "name: writer", "a.md", "reader", false],
    ["names it", "name: reader", "a.md", "reader", true],
    ["names it as the host would compare", "name: Code_Reader", "a.md", "code-reader", true],
    ["speaks of it", "name: writer\ndescription: calls the reader", "a.md", "reader", true],
    ["is called like it", "name: writer", "Reader.md", "reader", true],
    ["cannot be told", null, "a.md", "reader", true],
    ["writes letters as escapes", 'name: "\\u0072eader"', "a.md", "reader", true],
    [
      "has line ends as escapes, as Claude Code writes them",
      'description: "a\\n\\nb"',
      "a.md",
      "reader",
      false,
    ],
    ["is asked for by letters whose case depends on others", "name: writer", "a.md", "ΑΣ", true],
    ["is asked for by nothing", "name: writer", "a.md", "- _", true],
  ])("%s", (_, text, file, type, expected) => {
    expect(mayHold(`/x/${file}`, text, type)).toBe(expected);
  });
});
