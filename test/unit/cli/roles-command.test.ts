import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runRoles } from "../../../src/cli/roles-command.ts";
import { PLUGIN_ROOT } from "./world.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "roles-"));
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function agent(path: string, ...fields: string[]): string {
  const file = join(root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `---\n${fields.join("\n")}\n---\nbody\n`);
  return file;
}

function run(argv: string[], pluginRoot = PLUGIN_ROOT) {
  const places = [
    { folder: join(root, "project"), origin: "project" },
    { folder: join(root, "user"), origin: "user" },
  ] as const;
  return runRoles(argv, { pluginRoot, cwd: root, places });
}

type Row = { name: string; agent_type: string; origin: string; file: string | null; instead: string | null };
const rows = (argv: string[] = []): Row[] => JSON.parse(run(["--json", ...argv]).stdout);
const rowsOf = (name: string, argv: string[] = []) => rows(argv).filter((row) => row.name === name);

describe("spawn-guard roles", () => {
  it("is a table of the 26 and the 3", () => {
    const { exitCode, stdout, stderr } = run([]);
    expect([exitCode, stderr]).toEqual([0, ""]);
    const lines = stdout.split("\n\n")[0]?.split("\n") ?? [];
    expect(lines).toHaveLength(30);
    expect(lines[0]).toMatch(/^role +type +input +output +calls +turns +time +tools$/);
    expect(stdout).toMatch(/^eval-judge +judge +50000 +600 +30 +5 +600 s +Read, Grep, Glob$/m);
    expect(stdout).toMatch(/^Explore +other +150000 +2000 +100 +50 +1800 s +\*$/m);
    expect(stdout.split("\n\n").slice(1)).toEqual([
      "An Agent call names the plugin's roles spawn-guard:<role>.\n",
    ]);
  });

  it("is the same as JSON", () => {
    expect(rows()).toHaveLength(29);
    expect(rowsOf("memory-curator")).toEqual([
      {
        name: "memory-curator",
        agent_type: "spawn-guard:memory-curator",
        origin: "plugin",
        file: join(PLUGIN_ROOT, "agents/memory-curator.md"),
        instead: null,
        type: "judge",
        tools: ["Read", "Write"],
        disallowed_tools: ["Edit", "Bash", "Agent"],
        effective_tools: ["Read", "Write"],
        budget: {
          max_input_tokens: 50_000,
          max_output_tokens: 800,
          max_tool_calls: 30,
          max_turns: 10,
          timeout_ms: 600_000,
          retry_budget: 1,
        },
      },
    ]);
  });

  it("lists what it can of a folder with a broken file, and says so", () => {
    const plugin = join(root, "plugin");
    agent("plugin/agents/bad.md", "name: [");
    agent("plugin/agents/open.md", "name: open", "description: d");
    mkdirSync(join(plugin, ".claude-plugin"));
    writeFileSync(join(plugin, ".claude-plugin/plugin.json"), '{"name":"mine"}');
    const { exitCode, stdout, stderr } = run([], plugin);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/^open .*\* \(no list\)$/m);
    expect(stdout).toContain("mine:<role>");
    expect(stderr).toMatch(/^error: .*bad\.md:\d+: /m);
  });

  it.each([
    [["--jsn"]],
    [["--json", "x"]],
    [["x"]],
    [["--for"]],
    [["--for", " "]],
    [["--for", "a", "--agents-dir", "."]],
    [["--for", "postgres", "migration"]],
    [["--for", "--json"]],
    [["--agents-dir", ""]],
  ])("refuses %j", (argv) => {
    const { exitCode, stdout, stderr } = run(argv);
    expect([exitCode, stdout]).toEqual([2, ""]);
    expect(stderr).toMatch(/^spawn-guard roles: /);
  });
});

describe("the project's and the user's agent files", () => {
  it("stand below the roles, with what they may do and where they are", () => {
    const file = agent(
      "project/near.md",
      "name: near",
      "description: d",
      "tools: Read, Bash",
      "disallowedTools: Bash",
      "maxTurns: 7",
    );
    agent("user/open.md", "name: open", "description: d", "disallowedTools: Agent");
    const { exitCode, stdout } = run([]);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^near +project +150000 +2000 +100 +7 +1800 s +Read$/m);
    expect(stdout).toMatch(/^open +user +.* \* except Agent$/m);
    expect(stdout).toContain(`near: ${file}\n`);
    expect(rowsOf("near")).toMatchObject([
      {
        agent_type: "near",
        origin: "project",
        tools: ["Read", "Bash"],
        effective_tools: ["Read"],
        instead: null,
      },
    ]);
  });

  it("replace a built-in, and that is said", () => {
    const file = agent("project/Explore.md", "name: explore", "description: d", "tools: Read");
    expect(run([]).stdout).toContain(`Explore is replaced by ${file}: Claude Code starts that agent\n`);
    expect(rowsOf("Explore")).toMatchObject([{ origin: "builtin", instead: file }]);
    expect(rowsOf("explore")).toMatchObject([{ origin: "project", instead: null }]);
  });

  it("of one name are listed both, with both paths: the project's counts", () => {
    const near = agent("project/x.md", "name: x", "description: d", "tools: Read");
    const far = agent("user/x.md", "name: x", "description: d", "tools: Bash");
    expect(rowsOf("x")).toMatchObject([
      { file: near, instead: null },
      { file: far, instead: near },
    ]);
    expect(run([]).stdout).toContain(`x: ${far} is not used, or not for certain: ${near} has the name too`);
  });

  it("of one name in one folder are an error that names both, and neither is certain (case 88)", () => {
    const one = agent("project/a.md", "name: x", "description: d", "tools: Read");
    const two = agent("project/b.md", "name: x", "description: d", "tools: Bash");
    const { exitCode, stderr } = run([]);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(`error: ${two}:1: name x is taken by ${one}`);
    expect(rowsOf("x")).toMatchObject([
      { file: one, instead: two },
      { file: two, instead: one },
    ]);
  });

  it("do not replace the plugin's role of the same name, which has a scoped name", () => {
    agent("project/db-engineer.md", "name: db-engineer", "description: d", "tools: Read");
    expect(rowsOf("db-engineer")).toMatchObject([
      { agent_type: "spawn-guard:db-engineer", origin: "plugin", instead: null },
      { agent_type: "db-engineer", origin: "project", instead: null, type: "other" },
    ]);
  });
});

describe("--agents-dir", () => {
  it("lists another folder's agents, by another plugin's scope where it is one", () => {
    agent("other/agents/db-engineer.md", "name: db-engineer", "description: d", "tools: Read", "hooks: {}");
    expect(rowsOf("db-engineer", ["--agents-dir", "other/agents"])[1]).toMatchObject({
      agent_type: "db-engineer",
      origin: "foreign",
      type: "other",
    });
    mkdirSync(join(root, "other/.claude-plugin"));
    writeFileSync(join(root, "other/.claude-plugin/plugin.json"), '{"name":"theirs"}');
    expect(rowsOf("db-engineer", ["--agents-dir", "other/agents"])[1]).toMatchObject({
      agent_type: "theirs:db-engineer",
      type: "other",
    });
    expect(run(["--agents-dir", "other/agents"]).stderr).toContain(
      "`hooks` is ignored by Claude Code in a plugin's agent",
    );
  });

  it("that is not there is said", () => {
    expect(() => run(["--agents-dir", "none"])).toThrow(/--agents-dir .*none is not there/);
    agent("a.md", "name: a", "description: d");
    expect(() => run(["--agents-dir", "a.md"])).toThrow(/--agents-dir .*a\.md is no folder; name a folder/);
  });
});

describe("--for", () => {
  it("says which role and why, in a line or as JSON", () => {
    expect(run(["--for", "design a postgres schema"]).stdout).toBe(
      'db-engineer  stack word "postgres", stack word "schema"\n',
    );
    expect(JSON.parse(run(["--for", "deploy/Dockerfile", "--json"]).stdout)).toEqual({
      for: "deploy/Dockerfile",
      role: "devops-engineer",
      candidates: [{ role: "devops-engineer", why: ["file pattern Dockerfile (Dockerfile)"] }],
      hint: null,
    });
  });

  it("gives several roles where several fit, and names none of them alone", () => {
    const { stdout } = run(["--for", "react and postgres"]);
    expect(stdout.split("\n").slice(0, 3)).toEqual([
      'frontend-engineer  stack word "react"',
      'db-engineer        stack word "postgres"',
      "2 roles fit: give each its own part, or name the one you mean",
    ]);
    expect(JSON.parse(run(["--for", "react and postgres", "--json"]).stdout)).toMatchObject({ role: null });
  });

  it("leaves the unmatched to the software-engineer", () => {
    expect(run(["--for", "cobol"]).stdout).toBe(
      "software-engineer  nothing else in the role-selection table matches\n",
    );
  });
});
