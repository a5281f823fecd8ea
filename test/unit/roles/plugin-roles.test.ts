import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { readAgentFolder } from "../../../src/roles/agent-folder.ts";
import { PLUGIN_ROLE_TYPES } from "../../../src/roles/role-budget.ts";
import { spawnableRoles } from "../../../src/roles/tool-list.ts";

const FOLDER = fileURLToPath(new URL("../../../plugin/agents/", import.meta.url));
const { roles, problems } = readAgentFolder(FOLDER, "plugin");

const CODE = ["Read", "Grep", "Glob", "Bash", "Write", "Edit"];
const WORDS = ["Read", "Grep", "Glob", "Write", "Edit"];

/** name, tools, disallowedTools, model, effort, maxTurns, max_output_tokens */
const TABLE: [string, string[], string[], string, string, number, number][] = [
  ["cloud-architect", CODE, [], "inherit", "high", 30, 1500],
  ["content-designer", WORDS, ["Bash"], "inherit", "medium", 30, 1200],
  ["content-writer", WORDS, ["Bash"], "inherit", "medium", 30, 1200],
  ["data-engineer", CODE, [], "sonnet", "high", 30, 2000],
  ["db-engineer", CODE, [], "sonnet", "high", 30, 2000],
  ["devops-architect", CODE, [], "inherit", "high", 30, 1500],
  ["devops-engineer", CODE, [], "sonnet", "high", 30, 2000],
  ["eval-judge", ["Read", "Grep", "Glob"], ["Write", "Edit", "Bash"], "haiku", "medium", 5, 600],
  [
    "feature-design-lead",
    [
      "Agent(product-manager, marketing-strategist, system-architect, ui-ux-designer, db-engineer, security-engineer, qa-engineer, eval-judge)",
      "Read",
      "Grep",
      "Glob",
    ],
    [],
    "opus",
    "xhigh",
    50,
    1200,
  ],
  ["frontend-engineer", CODE, [], "sonnet", "high", 30, 2000],
  ["java-engineer", CODE, [], "sonnet", "high", 30, 2000],
  ["marketing-strategist", WORDS, ["Bash"], "inherit", "medium", 30, 1500],
  ["memory-curator", ["Read", "Write"], ["Edit", "Bash", "Agent"], "haiku", "low", 10, 800],
  ["ml-engineer", CODE, [], "inherit", "high", 30, 2000],
  ["mobile-engineer", CODE, [], "sonnet", "high", 30, 2000],
  ["product-manager", WORDS, ["Bash"], "inherit", "medium", 30, 1500],
  ["prompt-engineer", CODE, [], "inherit", "medium", 30, 1000],
  ["python-engineer", CODE, [], "sonnet", "high", 30, 2000],
  ["qa-engineer", CODE, [], "sonnet", "medium", 30, 800],
  ["security-engineer", CODE, [], "sonnet", "high", 30, 1500],
  ["seo-engineer", CODE, [], "inherit", "low", 30, 800],
  ["software-engineer", CODE, [], "inherit", "high", 30, 2000],
  ["solution-architect", CODE, [], "inherit", "high", 30, 1500],
  ["sre-engineer", CODE, [], "sonnet", "high", 30, 2000],
  ["system-architect", CODE, [], "inherit", "high", 30, 1500],
  ["ui-ux-designer", WORDS, ["Bash"], "inherit", "medium", 30, 1200],
];

it("parses all 26 files without a problem", () => {
  expect(problems).toEqual([]);
  expect([...roles.keys()].sort()).toEqual(TABLE.map(([name]) => name).sort());
  expect(roles.size).toBe(26);
});

it("has a type for each file, and a file for each type", () => {
  expect([...PLUGIN_ROLE_TYPES.keys()].sort()).toEqual([...roles.keys()].sort());
});

describe.each(TABLE)("%s", (name, tools, disallowedTools, model, effort, maxTurns, maxOutputTokens) => {
  const found = roles.get(name);
  const text = found === undefined ? "" : readFileSync(found.file, "utf8");

  it("has the fields of the table", () => {
    expect(found?.role).toEqual({
      name,
      origin: "plugin",
      description: expect.any(String),
      tools,
      disallowedTools,
      model,
      maxTurns,
      maxOutputTokens,
    });
    expect(text).toContain(`\neffort: ${effort}\n`);
    expect(found?.file.endsWith(`/${name}.md`)).toBe(true);
  });

  it("says when to use it in at most 25 words", () => {
    const description = found?.role.description ?? "";
    const words = description.split(/\s+/).length;
    expect(description).toMatch(/^Use /);
    expect(words).toBeGreaterThanOrEqual(8);
    expect(words).toBeLessThanOrEqual(25);
  });
});

it("lets only the lead spawn, and only roles that exist", () => {
  const spawners = [...roles.values()].filter(({ role }) => spawnableRoles(role.tools ?? ["*"]) !== "none");
  expect(spawners.map(({ role }) => role.name)).toEqual(["feature-design-lead"]);
  const targets = spawnableRoles(roles.get("feature-design-lead")?.role.tools ?? []);
  expect(targets).toHaveLength(8);
  expect([...targets].filter((name) => !roles.has(name))).toEqual([]);
});
