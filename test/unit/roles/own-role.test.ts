import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readAgentFolder } from "../../../src/roles/agent-folder.ts";
import { findOwnRole } from "../../../src/roles/own-role.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "own-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function put(path: string, name: string, tools = "Read", more = ""): void {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `---\nname: ${name}\ndescription: d${more}\ntools: ${tools}\n---\nbody\n`);
}

function find(type: string): string | null {
  const places = [
    { folder: join(root, "project"), origin: "project" },
    { folder: join(root, "user"), origin: "user" },
  ] as const;
  const found = findOwnRole(type, places, readAgentFolder);
  if (found === null) return null;
  return "broken" in found ? `broken: ${found.broken}` : found.file.slice(root.length + 1);
}

it("takes the project's file before the user's", () => {
  put("user/reader.md", "reader");
  expect(find("reader")).toBe("user/reader.md");
  put("project/reader.md", "reader");
  expect(find("reader")).toBe("project/reader.md");
  expect(find("writer")).toBeNull();
});

it("takes the exact name, else the one that the host takes for the same, and never guesses between two (case 88)", () => {
  put("project/reader.md", "code-reader");
  expect(find("Code_Reader")).toBe("project/reader.md");
  put("project/other.md", "CodeReader");
  expect(find("CodeReader")).toBe("project/other.md");
  expect(find("code-reader")).toBe("project/reader.md");
  expect(find("code reader")).toMatch(
    /^broken: .*other\.md and .*reader\.md have names that Claude Code takes for one$/,
  );
});

it("takes neither of two files that give a name different rights, and names both (case 88)", () => {
  put("project/a/twin.md", "twin", "Read");
  put("project/b/twin.md", "twin", "Read, Bash");
  put("user/twin.md", "twin");
  expect(find("twin")).toMatch(/^broken: .*b\/twin\.md:1: name twin is taken by .*a\/twin\.md/);
});

it("takes a file that is there twice", () => {
  put("project/a/twin.md", "twin", "Read", "ifferent words");
  put("project/b/twin.md", "twin", "Read");
  expect(find("twin")).toBe("project/a/twin.md");
});

it("does not look past a file that cannot be read and may be the one (case 76)", () => {
  put("project/helpers.md", "reader", "Read: only");
  put("user/reader.md", "reader");
  expect(find("reader")).toMatch(/^broken: .*helpers\.md:4: /);
});

it("of two files that share a name, each is that name's and not its own file name's", () => {
  put("project/Explore.md", "Explore");
  put("project/reader.md", "Explore", "Read, Bash");
  expect(find("reader")).toBeNull();
  expect(find("Explore")).toMatch(/^broken: .*name Explore is taken by/);
});
