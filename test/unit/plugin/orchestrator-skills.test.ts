import { execFileSync, spawnSync } from "node:child_process";
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { TURNS_KEPT } from "../../../src/guard/budget.ts";
import { nearestName } from "../../../src/payload/nearest-name.ts";
import { CONTRACT_STATUSES } from "../../../src/payload/return-contract.ts";
import { textsIn } from "../../../src/payload/state-slice.ts";
import { isTraceId } from "../../../src/payload/trace-id.ts";
import { wrappedSources } from "../../../src/payload/untrusted-content.ts";
import { checkPayload } from "../../../src/payload/validate.ts";
import { readAgentFolder } from "../../../src/roles/agent-folder.ts";
import { linesOf, shared } from "../../support/shared-lines.ts";
import { argumentsIn, buildsIn, commandsIn, ORCHESTRATORS, skillText } from "../../support/skill-commands.ts";

/** What stands around the arguments of every build. */
const FRAME = /^ *(?:```.*|spawn-guard build --json <<.*|SPAWN_ARGUMENTS_END)$/gm;
const COMMON = "## Each spawn\n";
const CLI = resolve("plugin/bin/spawn-guard");

const SKILLS = ORCHESTRATORS.map((name) => {
  const text = skillText(name);
  const [, frontmatter = "", ...rest] = text.split(/^---$/m);
  const body = rest.join("---");
  const [before = "", after = ""] = body.split(COMMON);
  const [common = "", ...own] = after.split(/^(?=## )/m);
  return { name, text, frontmatter, body, common, own: [before, ...own].join("").replace(FRAME, "") };
});
const ROLES = [...readAgentFolder("plugin/agents", "plugin").roles.keys()];

const ROLE_NAME =
  /\b[a-z]+(?:-[a-z]+)*-(?:engineer|architect|designer|writer|manager|strategist|judge|lead|curator)\b/g;
const TOOL_NAME =
  /\b(?:Bash|Grep|Glob|Agent|Web[A-Z]\w+|Notebook\w+|[A-Z][a-z]+[A-Z]\w*)\b|\b[A-Z][a-z]+(?= tool\b)/g;
/** Claude Code's, as test/host/orchestrators.test.ts finds them on the main thread. */
const TOOLS = ["Agent", "Bash", "Skill"];

let project = "";
beforeAll(() => {
  project = mkdtempSync(join(tmpdir(), "orchestrator-"));
});
afterAll(() => rmSync(project, { recursive: true, force: true }));

function run(script: string) {
  const path = `${resolve("plugin/bin")}:${process.env.PATH}`;
  const env = { PATH: path, HOME: project };
  const { status, stdout, stderr } = spawnSync("bash", ["-c", script], { cwd: project, env });
  return { status, stdout: stdout.toString(), stderr: stderr.toString() };
}

const ticked = (text: string) =>
  [...text.replace(/```.*?```/gs, "").matchAll(/`([^`\n]+)`/g)].map(([, code = ""]) => code);

describe.each(SKILLS)("the skill $name", ({ name, text, frontmatter, body, common, own }) => {
  const builds = buildsIn(body);

  it("has 80 to 160 lines, and no line of prose twice", () => {
    expect(text.split("\n").length).toBeGreaterThanOrEqual(80);
    expect(text.trimEnd().split("\n").length).toBeLessThanOrEqual(160);
    const prose = linesOf(body.replace(/```(?:ba)?sh.*?```/gs, ""));
    expect(new Set(prose).size).toBe(prose.length);
  });

  it("runs on the main thread, and can be loaded by a person and a model without being asked about", () => {
    expect(Object.keys(parse(frontmatter))).toEqual(["name", "description", "argument-hint"]);
    expect(parse(frontmatter).name).toBe(name);
  });

  it("takes its arguments as text once, and puts them into no command", () => {
    expect(body.match(/\$ARGUMENTS/g)).toHaveLength(1);
    expect(body.replace("$ARGUMENTS", "").replaceAll("${CLAUDE_PLUGIN_ROOT}", "")).not.toContain("$");
    expect(body).not.toMatch(/!`/);
  });

  it("goes from intake to report in numbered steps, each spawn with a gate behind it", () => {
    const steps = [...body.matchAll(/^## (\d)\. (.*)$/gm)];
    expect(steps.map(([, number]) => Number(number))).toEqual(steps.map((_, index) => index + 1));
    expect(steps[0]?.[2]).toMatch(/^Intake/);
    expect(steps.at(-1)?.[2]).toMatch(/^Report/);
    for (const step of body.split(/^## /m).filter((part) => buildsIn(part).length > 0))
      expect(step).toMatch(/^Gate\b.*:/m);
  });

  it("names only roles, tools and skills that exist", () => {
    for (const word of body.match(/(?<![\w/-])[a-z]+(?:-[a-z]+)+(?![\w/-])/g) ?? [])
      if (!ROLES.includes(word)) expect([word, nearestName(word, ROLES)]).toEqual([word, null]);
    for (const role of body.match(ROLE_NAME) ?? []) expect(ROLES).toContain(role);
    for (const tool of body.match(TOOL_NAME) ?? []) expect(TOOLS).toContain(tool);
    for (const [, skill = ""] of body.matchAll(/spawn-guard:([a-z-]+)/g))
      expect(existsSync(`plugin/skills/${skill}/SKILL.md`)).toBe(true);
    for (const [, path = ""] of body.matchAll(/\$\{CLAUDE_PLUGIN_ROOT\}\/([\w./-]*\w)/g))
      expect([path, existsSync(join("plugin", path))]).toEqual([path, true]);
  });

  it("names only commands and options of the CLI that it has", () => {
    const calls = [...ticked(body), ...commandsIn(body)].filter((code) => code.startsWith("spawn-guard "));
    for (const call of calls) {
      const [line = ""] = call.split("\n");
      const [, command = ""] = line.split(" ");
      const help = execFileSync(CLI, [command, "--help"]).toString();
      for (const [option] of line.matchAll(/(?<= )--[a-z-]+/g))
        expect(`${help} --json`).toMatch(new RegExp(`${option}\\b`));
    }
    expect(ticked(body).filter((code) => code.startsWith("--"))).toEqual([]);
  });

  it("shows commands that run as they are written", () => {
    expect(commandsIn(body).length).toBeGreaterThan(1);
    for (const command of commandsIn(body)) expect(run(command)).toMatchObject({ status: 0, stderr: "" });
  });

  it("builds each spawn with a valid payload and a goal of its own, the later ones in the run of the first", () => {
    const built = builds.map((build) => JSON.parse(run(build).stdout));
    expect(built.length).toBeGreaterThan(0);
    for (const { validation, spawn_payload, agent_input } of built) {
      expect(validation).toBe("ok");
      expect(checkPayload(spawn_payload)).toMatchObject({ ok: true });
      expect(agent_input.subagent_type).toBe(`spawn-guard:${spawn_payload.subagent_role}`);
      expect(spawn_payload.parent_trace_id).toBeNull();
    }
    expect(new Set(built.map(({ spawn_payload }) => spawn_payload.goal)).size).toBe(built.length);
    const given = builds.map(argumentsIn);
    expect(given.map(({ run, seq }) => [run, seq])).toEqual(
      given.map((_, index) => (index === 0 ? [undefined, undefined] : ["abc123", index + 1])),
    );
  });

  it("orders by goal and constraints alone, and keeps the state to values that need no envelope", () => {
    for (const build of builds) {
      const { state_slice, goal, constraints } = JSON.parse(run(build).stdout).spawn_payload;
      expect(textsIn(state_slice).filter((text) => wrappedSources(text) !== null)).toEqual([]);
      expect(Object.keys(state_slice).join()).toMatch(
        /^(?:,?(?:\w+_commit|checkpoint|active_files|current_branch))+$/,
      );
      expect(JSON.stringify([goal, constraints])).not.toMatch(/state_slice|\bin state\b/);
      if (goal.includes("acceptance criteria"))
        expect(constraints).toContainEqual(expect.stringMatching(/^AC1: /));
      if (goal.includes("in constraints")) expect(constraints.length).toBeGreaterThan(1);
    }
  });

  it("gives no spawn more files to read than it has turns with open tools, one file a turn", () => {
    for (const build of builds) {
      const { state_slice, budget } = JSON.parse(run(build).stdout).spawn_payload;
      expect(state_slice.active_files.length).toBeLessThanOrEqual(budget.max_turns - TURNS_KEPT);
    }
  });

  it("writes arguments behind a quoted delimiter alone", () => {
    for (const build of builds)
      expect(build).toMatch(
        /^spawn-guard build --json <<'SPAWN_ARGUMENTS_END'\n[^$`]*\nSPAWN_ARGUMENTS_END$/,
      );
  });

  it("says for each status of a return contract, and for a refusal, what to do", () => {
    const rows = common.split("\n").filter((line) => line.startsWith("| ") && !line.startsWith("| What"));
    const cases = rows.map((row) => row.split("|")[1] ?? "");
    expect(ticked(cases.join("\n")).toSorted()).toEqual(CONTRACT_STATUSES.toSorted());
    expect(cases.join("\n")).toContain("refused");
    const statuses = ticked(own).filter((word) =>
      /^(?:ok|in_progress|needs_\w+|failed|partial|done|success|error)$/.test(word),
    );
    expect(CONTRACT_STATUSES).toEqual(expect.arrayContaining(statuses));
  });

  it("gives examples of trace ids that are some", () => {
    for (const [id] of body.matchAll(/\bwf-[\w-]+/g)) expect(isTraceId(id)).toBe(true);
  });

  it("says of each spawn what every other orchestrator says, and little else of what they say", () => {
    expect(common).toBe(SKILLS[0]?.common);
    expect(common.trim().split("\n").length).toBeLessThanOrEqual(20);
    const others = SKILLS.filter((other) => other.name !== name);
    expect(others.filter((other) => shared(own, other.own) > 1 / 5).map((other) => other.name)).toEqual([]);
  });
});
