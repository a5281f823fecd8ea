import { execFileSync, spawnSync } from "node:child_process";
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { build } from "esbuild";
import { afterAll, describe, expect, it } from "vitest";
import { replay } from "../../demo/replay.ts";
import { POLICY_KEYS, POLICY_RULES } from "../../src/policy/policy-keys.ts";
import { argumentsIn, buildsIn, ORCHESTRATORS, skillText } from "../support/skill-commands.ts";

const README = readFileSync("README.md", "utf8");
const folders: string[] = [];
afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** The fenced block or table that follows a marker in README. */
function shown(marker: string): string {
  const after = README.split(`<!-- ${marker} -->\n`)[1] ?? "";
  const text = /^```\n([\s\S]*?)\n```/.exec(after)?.[1] ?? after.split("\n\n")[0] ?? "";
  if (text === "") throw new Error(`README shows nothing for ${marker}`);
  return text;
}

const plain = (text: string) => text.replace(/wf-\d{8}-[0-9a-z]{6}-/g, "wf-<date>-<run>-");

describe("README", () => {
  it("shows what the demo prints", async () => {
    const printed: string[] = [];
    expect(await replay(resolve("plugin"), (text) => printed.push(text))).toBe(true);
    const text = plain(printed.join("\n"));
    for (const part of shown("demo").split("\n\n")) expect(text).toContain(part);
    expect(text.split("\n")).toContain(shown("audit-verify"));
    const rows = text.split("\n").map((line) => line.replace(/^\S+Z {2}/, ""));
    for (const row of shown("audit-show").split("\n")) expect(rows).toContain(row);
  });

  it("shows what spawn-guard build prints", () => {
    const [, command = ""] = /npx spawn-guard (build .*)/.exec(README) ?? [];
    const argv = [...command.matchAll(/"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? "");
    const printed = execFileSync(process.execPath, ["plugin/cli/spawn-guard.cjs", ...argv]).toString();
    expect(plain(printed)).toContain(shown("build"));
  });

  it("shows what spawn-guard roles --for prints", () => {
    const [, text = ""] = /npx spawn-guard roles --for "([^"]*)"/.exec(README) ?? [];
    const printed = execFileSync(process.execPath, ["plugin/cli/spawn-guard.cjs", "roles", "--for", text]);
    expect(printed.toString().trimEnd()).toBe(shown("roles-for"));
  });

  it("shows what spawn-guard context prints of the file that it shows, and the builder takes it", () => {
    const folder = mkdtempSync(join(tmpdir(), "docs-"));
    folders.push(folder);
    writeFileSync(join(folder, "CLAUDE.md"), `${shown("context-source")}\n`);
    const cli = resolve("plugin/cli/spawn-guard.cjs");
    const printed = execFileSync(process.execPath, [cli, "context", "--for", "db-engineer"], { cwd: folder });
    const [, ...parts] = printed.toString().trimEnd().split("\n\n");
    expect(parts.join("\n\n").replace(/timestamp="[^"]*"/, 'timestamp="<time>"')).toBe(shown("context"));
    const [, command = ""] = /npx (spawn-guard build .* --state <\(.*\))\n/.exec(README) ?? [];
    const script = command.replaceAll("npx ", "").replaceAll("spawn-guard ", '"$0" ');
    const built = execFileSync("bash", ["-c", script, cli], { cwd: folder });
    expect(JSON.parse(built.toString())).toMatchObject({
      validation: "ok",
      spawn_payload: { untrusted_inputs: [{ source: "L2:CLAUDE.md", wrapped: true }] },
    });
  });

  it("shows every orchestrator skill, with roles that it spawns", () => {
    const rows = shown("orchestrators").split("\n").slice(2);
    expect(rows.map((row) => /`\/([a-z-]+)`/.exec(row)?.[1])).toEqual(ORCHESTRATORS);
    for (const [index, skill] of ORCHESTRATORS.entries()) {
      const spawned = buildsIn(skillText(skill)).map((build) => argumentsIn(build).role);
      const [, , turns = ""] = rows[index]?.split("|") ?? [];
      const named = turns.match(/\b[a-z]+-[a-z-]+\b/g) ?? [];
      expect(named.length).toBeGreaterThan(0);
      expect(spawned).toEqual(expect.arrayContaining(named));
    }
  });

  it("shows every policy key, with its default and its meaning", () => {
    const rows = POLICY_KEYS.map((key) => {
      const rule = POLICY_RULES[key];
      const choices = rule.kind === "choice" ? ` (${rule.choices.join(", ")})` : "";
      return `| ${key} | ${rule.default} | ${rule.meaning}${choices} |`;
    });
    expect(shown("policy").split("\n").slice(2)).toEqual(rows);
  });

  it("shows skill calls that build as they are written", () => {
    const calls = [...README.matchAll(/^ {4}\/subagent-spawn (.*)$/gm)].map(([, text = ""]) => text);
    expect(calls).toHaveLength(3);
    for (const call of calls) {
      const argv = [...call.matchAll(/"([^"]*)"|(\S+)/g)].map((match) => match[1] ?? match[2] ?? "");
      const built = JSON.parse(
        execFileSync(process.execPath, ["plugin/cli/spawn-guard.cjs", "build", ...argv]).toString(),
      );
      expect(built.validation).toBe("ok");
    }
  });
});

it("the demo answers an option that it does not have with its usage", () => {
  const { status, stdout, stderr } = spawnSync("npx", ["tsx", "demo/demo.ts", "--bogus"], {
    encoding: "utf8",
  });
  expect([status, stdout]).toEqual([2, ""]);
  expect(stderr).toMatch(/^demo: Unknown option '--bogus'[^\n]*\nUsage: npm run demo .*\n$/);
});

it("the demo fails when the depth rule is broken", async () => {
  const folder = mkdtempSync(join(tmpdir(), "broken-"));
  folders.push(folder);
  const plugin = join(folder, "plugin");
  cpSync("plugin", plugin, { recursive: true });
  const rule = "if (depth > policy.subagent_max_depth)";
  await build({
    stdin: {
      contents: `import { runHook } from "./run-hook.ts"; import { hook } from "./pre-tool-use-agent.ts"; void runHook(hook);`,
      resolveDir: "src/hooks",
      loader: "ts",
    },
    bundle: true,
    platform: "node",
    format: "cjs",
    outfile: join(plugin, "hooks/pre-tool-use-agent.cjs"),
    plugins: [
      {
        name: "break-the-rule",
        setup({ onLoad }) {
          onLoad({ filter: /decide-spawn\.ts$/ }, ({ path }) => {
            const source = readFileSync(path, "utf8");
            expect(source).toContain(rule);
            return { contents: source.replace(rule, "if (false)"), loader: "ts" };
          });
        },
      },
    ],
  });
  const printed: string[] = [];
  expect(await replay(plugin, (text) => printed.push(text))).toBe(false);
  expect(printed.join("\n")).toContain("Agent call 4: admitted");
});
