import { execFileSync } from "node:child_process";
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { skillText } from "../support/skill-commands.ts";

const TEXT = skillText("team-bugfix");
const [copy = "", search = "", ...more] = [...TEXT.matchAll(/^( *)```bash\n(.*?)\n\1```$/gms)].map(
  ([, , code]) => code ?? "",
);
const REMOVE = /`(git worktree remove [^`]*)`/.exec(TEXT)?.[1] ?? "";
const CHECKOUT = /`(git checkout --detach [^`]*)`/.exec(TEXT)?.[1] ?? "";
const TEST = "test/invoice-rounding.test.js";

const folder = mkdtempSync(join(tmpdir(), "bisect-"));
const project = join(folder, "project");
const other = join(folder, "invoice-318");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs what the skill shows; its example commit is the project's last. */
function run(script: string, cwd = project): string {
  const commands = script.replaceAll("4f2a9c1", git("rev-parse", "main"));
  return execFileSync("bash", ["-e", "-c", commands], { cwd, env: environment(), stdio: "pipe" }).toString();
}

function git(...args: string[]): string {
  return execFileSync("git", args, { cwd: project, env: environment(), stdio: "pipe" }).toString().trim();
}

function environment(): NodeJS.ProcessEnv {
  const who = {
    GIT_AUTHOR_NAME: "a",
    GIT_AUTHOR_EMAIL: "a@b",
    GIT_COMMITTER_NAME: "a",
    GIT_COMMITTER_EMAIL: "a@b",
  };
  return { PATH: process.env.PATH, HOME: folder, GIT_CONFIG_NOSYSTEM: "1", ...who };
}

function commit(message: string, files: Record<string, string>): string {
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(join(project, name, ".."), { recursive: true });
    writeFileSync(join(project, name), text);
  }
  git("add", "-A");
  git("commit", "-qm", message);
  return git("rev-parse", "HEAD");
}

describe("the bisection of /team-bugfix, as it is written", () => {
  const invoice = (total: string) => `exports.total = (items) => ${total};\n`;
  const perInvoice = invoice("Math.round(items.reduce((sum, item) => sum + item, 0) * 1.19)");
  const perItem = invoice("items.reduce((sum, item) => sum + Math.round(item * 1.19), 0)");
  let culprit = "";

  beforeAll(() => {
    mkdirSync(project);
    git("init", "-q", "-b", "main");
    const pack = { name: "shop", version: "1.0.0" };
    const lock = { ...pack, lockfileVersion: 3, requires: true, packages: { "": pack } };
    commit("first", {
      "package.json": JSON.stringify(pack),
      "package-lock.json": JSON.stringify(lock),
      "src/invoice.js": perInvoice,
    });
    git("tag", "v1.4");
    for (const text of ["a", "b", "c"]) commit(text, { "notes.txt": text });
    culprit = commit("round", { "src/invoice.js": perItem });
    for (const text of ["d", "e"]) commit(text, { "notes.txt": text });
    mkdirSync(join(project, "test"));
    writeFileSync(
      join(project, TEST),
      `require("node:test")("total", () => require("node:assert").equal(require("../src/invoice.js").total([1, 1, 1]), 4));\n`,
    );
  });

  it("has a step that copies and one that searches, and no other", () => {
    expect(more).toEqual([]);
    for (const command of [copy, search, REMOVE, CHECKOUT]) expect(command).not.toBe("");
  });

  it("passes on the good commit with the test that no commit has, and finds the bad commit", () => {
    expect(() => run(`node --test ${TEST}`)).toThrow();
    run(copy);
    expect(run(search)).toContain(`${culprit} is the first bad commit`);
  });

  it("leaves the other tree at the good commit, the copy in it, and nothing in the project", () => {
    const at = (ref: string) => git("-C", other, "rev-parse", ref);
    expect(at("HEAD")).toBe(git("rev-parse", "v1.4"));
    expect(git("-C", other, "for-each-ref", "refs/bisect")).toBe("");
    expect(readFileSync(join(other, TEST), "utf8")).toBe(readFileSync(join(project, TEST), "utf8"));
    expect(git("status", "--short", "-uall")).toBe(`?? ${TEST}`);
    expect(git("branch", "--show-current")).toBe("main");
  });

  it("shows the new test red on the base commit, once it is checked out there", () => {
    run(CHECKOUT, other);
    copyFileSync(join(project, TEST), join(other, TEST));
    expect(() => run(`node --test ${TEST}`, other)).toThrow();
  });

  it("takes the other tree away in the end", () => {
    run(REMOVE);
    expect(git("worktree", "list").split("\n")).toHaveLength(1);
  });
});
