import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import { type Bundle, bundle, lazyParts } from "../../../scripts/bundle.ts";
import { BUDGETS, overBudget } from "../../../scripts/bundle-budgets.ts";

const BUILT: Bundle[] = JSON.parse(readFileSync("build/bundles.json", "utf8"));
const folder = mkdtempSync(join(tmpdir(), "bundle-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe("what the build made", () => {
  it("is every script there is, each with a budget", () => {
    const there = ["hooks", "cli"].flatMap((part) =>
      readdirSync(`plugin/${part}`).map((name) => `${part}/${name}`),
    );
    const scripts = there.filter((file) => file.endsWith(".cjs")).sort();
    expect(BUILT.map(({ file }) => file.replace("plugin/", "")).sort()).toEqual(scripts);
    expect(Object.keys(BUDGETS).sort()).toEqual(scripts);
  });

  it.each(BUILT)("stays within its budget: $file", (built) => {
    expect(built.bytes).toBe(statSync(built.file).size);
    expect(overBudget(built)).toEqual([]);
  });

  it.each(BUILT)("is near its budget, or the budget is out of date: $file", ({ file, bytes, modules }) => {
    const budget = BUDGETS[file.replace("plugin/", "")];
    expect(bytes).toBeGreaterThan((budget?.bytes ?? 0) * 0.75);
    expect(modules.length).toBeGreaterThanOrEqual((budget?.modules ?? 0) * 0.75);
  });

  it.each(BUILT)("loads no part that was not built: $file", ({ file, parts }) => {
    for (const part of parts) expect(statSync(join(file, "..", part)).isFile()).toBe(true);
  });

  it("keeps what few events need out of what starts a hook", () => {
    const hooks = BUILT.filter(({ file }) => /hooks\/(?!part-)/.test(file));
    for (const { file, packages } of hooks) {
      expect(Object.keys(packages), file).not.toEqual(
        expect.arrayContaining([
          expect.stringMatching(/^(yaml|gray-matter|commander|markdown-it|ajv|nanoid)$/),
        ]),
      );
    }
  });
});

describe("a hook that starts to load more", () => {
  const built = async (script: string, code: string) => {
    const hook = `import { hook } from "./${script}.ts"; import { runHook } from "./run-hook.ts"; void runHook(hook);`;
    const made = await bundle(
      join(folder, `${script}.cjs`),
      { code: `${hook}${code}`, folder: "src/hooks" },
      { plugins: [lazyParts(/\.ts$/)], define: { __VERSION__: '""' } },
    );
    return overBudget({ ...made, file: `plugin/hooks/${script}.cjs` });
  };

  it("is within its budget as it is", async () => {
    expect(await built("pre-tool-use", "")).toEqual([]);
  });

  it.each([
    [
      "the Markdown parser",
      'import { readMarkdown } from "../context/markdown-sections.ts";',
      "readMarkdown",
      "markdown-it",
    ],
    ["YAML", 'import { parse } from "yaml";', "parse", "yaml"],
    [
      "the reader of agent files",
      'import { parseAgentFile } from "../roles/agent-file.ts";',
      "parseAgentFile",
      "gray-matter",
    ],
    ["the schema compiler", 'import { Ajv } from "ajv";', "Ajv", "ajv"],
    ["commander", 'import { Command } from "commander";', "Command", "commander"],
    ["cryptography", 'import { createHash } from "node:crypto";', "createHash", "node:crypto"],
    ["child processes", 'import { spawn } from "node:child_process";', "spawn", "node:child_process"],
  ])("is told: %s", async (_, load, name, loaded) => {
    const problems = await built("pre-tool-use", `${load}console.log(${name});`);
    expect(problems).toEqual(
      expect.arrayContaining([expect.stringContaining(`loads ${loaded}, which is not`)]),
    );
  });

  it("is told by its size, whatever it loads", async () => {
    const problems = await built("pre-tool-use", `console.log("${"x".repeat(20_000)}");`);
    expect(problems).toEqual([
      expect.stringMatching(/pre-tool-use\.cjs has \d+ bytes, at most \d+; load less/),
    ]);
  });

  it("is told by its modules, however small they are", async () => {
    const problems = await built(
      "config-change",
      'import * as a from "../roles/words.ts"; import * as b from "../acs/secret-name.ts"; import * as c from "../payload/trace-id.ts"; import * as d from "../payload/inert-text.ts"; import * as e from "../payload/nearest-name.ts"; console.log(a, b, c, d, e);',
    );
    expect(problems).toEqual(expect.arrayContaining([expect.stringMatching(/has \d+ modules, at most \d+/)]));
  });
});
