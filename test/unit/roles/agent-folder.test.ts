import { execFileSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { readAgentFolder } from "../../../src/roles/agent-folder.ts";

let dir: string;
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), "agents-"));
});
afterEach(() => rmSync(dir, { recursive: true, force: true }));

const agent = (name: string, tools = "Read") =>
  `---\nname: ${name}\ndescription: d\ntools: ${tools}\n---\nbody\n`;

function put(path: string, content: string | Uint8Array): string {
  const file = join(dir, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, content);
  return file;
}

function read(at = dir) {
  const { roles, problems } = readAgentFolder(at, "project");
  return {
    names: [...roles.keys()],
    roles,
    said: problems.map(
      ({ file, severity, message }) => `${severity} ${file.slice(dir.length + 1)}: ${message}`,
    ),
  };
}

describe("what is read", () => {
  it("takes every *.md below the folder, sorted by path, with its file", () => {
    put("b.md", agent("b"));
    put("a/z.md", agent("z"));
    put("a/deep/er/y.md", agent("y"));
    put("notes.txt", agent("n"));
    put("x.md.bak", agent("x"));
    const { names, roles, said } = read();
    expect(names).toEqual(["y", "z", "b"]);
    expect(roles.get("y")).toMatchObject({ file: join(dir, "a/deep/er/y.md"), role: { origin: "project" } });
    expect(said).toEqual([]);
  });

  it("is empty for a folder that does not exist", () => {
    expect(readAgentFolder(join(dir, "none"), "user")).toEqual({
      roles: new Map(),
      ambiguous: [],
      problems: [],
      complete: true,
    });
  });

  it("says so when the folder is a file", () => {
    const file = put("agents", "text");
    expect(readAgentFolder(file, "user").problems).toMatchObject([
      { severity: "error", file, message: expect.stringContaining("no folder") },
    ]);
  });

  it("skips files without frontmatter with a note and loads the others (case 91)", () => {
    put("README.md", "# Agents\n\n---\nname: not-me\n---\n");
    put("empty.md", "");
    put("good.md", agent("good"));
    const { names, said } = read();
    expect(names).toEqual(["good"]);
    expect(said).toEqual([
      "warning README.md: no frontmatter, so no agent; skipped",
      "warning empty.md: no frontmatter, so no agent; skipped",
    ]);
  });

  it("goes on after a file that cannot be read as an agent", () => {
    put("bad.md", "---\nname: bad\ntools: a: b\n---\n");
    put("good.md", agent("good"));
    const { names, said } = read();
    expect(names).toEqual(["good"]);
    expect(said).toEqual([expect.stringMatching(/^error bad\.md: value of `tools`/)]);
  });

  it("warns when name and file differ, and finds the role by name (case 89)", () => {
    put("file-name.md", agent("other-name"));
    const { roles, said } = read();
    expect(roles.get("other-name")?.role.name).toBe("other-name");
    expect(roles.has("file-name")).toBe(false);
    expect(said).toEqual([
      "warning file-name.md: name other-name differs from the file's, file-name; the name counts, rename the file to other-name.md",
    ]);
  });

  it("keeps names such as __proto__ apart from the object's own", () => {
    put("constructor.md", agent("constructor"));
    const { roles } = read();
    expect(roles.get("constructor")?.role.name).toBe("constructor");
    expect(roles.get("toString")).toBeUndefined();
  });
});

describe("duplicates (case 88)", () => {
  it("are no role where their rights differ, and are named both, however many there are", () => {
    put("a/twin.md", agent("twin", "Read"));
    put("b/twin.md", agent("twin", "Read, Bash, Agent"));
    put("c/twin.md", agent("twin", "Read"));
    put("other.md", agent("other"));
    const { names, said } = read();
    expect(names).toEqual(["other"]);
    const taken = `name twin is taken by ${join(dir, "a/twin.md")}, with other tools or limits; Claude Code loads only one of the two, so neither is used: rename one`;
    expect(said).toEqual([`error b/twin.md: ${taken}`, `error c/twin.md: ${taken}`]);
    expect(readAgentFolder(dir, "project").ambiguous.map(({ file }) => file)).toEqual(
      ["a", "b", "c"].map((folder) => join(dir, folder, "twin.md")),
    );
  });

  it("with the same rights are one role, with a warning", () => {
    put("a/twin.md", agent("twin"));
    put("b/twin.md", agent("twin").replace("description: d", "description: e"));
    const { roles, said } = read();
    expect(roles.get("twin")?.file).toBe(join(dir, "a/twin.md"));
    expect(said).toEqual([
      `warning b/twin.md: name twin is taken by ${join(dir, "a/twin.md")}, with the same tools and limits; remove one`,
    ]);
  });
});

describe("files that are no plain text files", () => {
  it("does not read a file over 1 MiB, and reads one of exactly that", () => {
    const frame = agent("big");
    put("big.md", frame + "x".repeat(1_048_576 - frame.length));
    put("huge.md", agent("huge") + "x".repeat(1_048_576));
    const { names, said } = read();
    expect(names).toEqual(["big"]);
    expect(said).toEqual([
      expect.stringMatching(/^error huge\.md: file has \d+ bytes, at most 1048576 are read/),
    ]);
  });

  it.each<[string, Uint8Array]>([
    [
      "invalid UTF-8",
      Buffer.concat([Buffer.from("---\nname: x\ntools: Re"), Buffer.from([0xff]), Buffer.from("\n---\n")]),
    ],
    ["UTF-16", Buffer.from(`\uFEFF${agent("x")}`, "utf16le")],
  ])("%s is an error", (_what, bytes) => {
    put("x.md", bytes);
    const { names, said } = read();
    expect(names).toEqual([]);
    expect(said).toEqual([expect.stringMatching(/^error x\.md: file cannot be read as UTF-8 text/)]);
  });

  it("reads a file with a byte order mark", () => {
    put("x.md", `\uFEFF${agent("x")}`);
    expect(read()).toMatchObject({ names: ["x"], said: [] });
  });

  it("does not wait for a named pipe, nor read a folder called x.md as a file", () => {
    execFileSync("mkfifo", [join(dir, "pipe.md")]);
    put("folder.md/inner.md", agent("inner"));
    expect(read()).toMatchObject({ names: ["inner"], said: [] });
  });
});

describe("symbolic links (case 92)", () => {
  it("follows links to files and folders, each real one once", () => {
    const outside = mkdtempSync(join(tmpdir(), "outside-"));
    try {
      writeFileSync(join(outside, "far.md"), agent("far"));
      put("near.md", agent("near"));
      symlinkSync(outside, join(dir, "link"));
      symlinkSync(outside, join(dir, "link-again"));
      symlinkSync(join(dir, "near.md"), join(dir, "znear.md"));
      expect(read()).toMatchObject({ names: ["far", "near"], said: [] });
    } finally {
      rmSync(outside, { recursive: true, force: true });
    }
  });

  it("ends on loops", () => {
    put("a/x.md", agent("x"));
    symlinkSync(dir, join(dir, "a/up"));
    symlinkSync("self", join(dir, "self"));
    symlinkSync(".", join(dir, "dot"));
    expect(read()).toMatchObject({ names: ["x"], said: [] });
  });

  it("reports a link to nowhere that is called like an agent", () => {
    symlinkSync(join(dir, "gone"), join(dir, "lost.md"));
    expect(read().said).toEqual([expect.stringMatching(/^error lost\.md: cannot be read/)]);
  });

  it("gives the same answer through a link to the folder itself", () => {
    put("agents/x.md", agent("x"));
    symlinkSync(join(dir, "agents"), join(dir, "linked"));
    expect(read(join(dir, "linked")).names).toEqual(["x"]);
  });

  it("stops at a bound and says so, so that a link to a large tree ends", () => {
    for (let i = 0; i < 5_001; i += 1) writeFileSync(join(dir, `note-${i}.txt`), "");
    expect(read().said).toEqual([expect.stringContaining("more than 5000 entries")]);
  });
});
