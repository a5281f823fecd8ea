import { execFileSync } from "node:child_process";
import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { argumentsIn, buildsIn, ORCHESTRATORS, skillText } from "../support/skill-commands.ts";
import { agentCall, type GuardedRun, guardedRun, payloadIn, removeRuns } from "./guarded-run.ts";
import { installClaude } from "./harness/claude-program.ts";
import { type Ask, type Reply, type Scenario, script, type ToolCall } from "./harness/scripted-model.ts";
import { bash } from "./model-calls.ts";

beforeAll(installClaude, 300_000);
afterAll(removeRuns);

/** What a role's agent does in its turns; its report with the contract comes after them by itself. */
type Work = Record<string, (ToolCall | ToolCall[])[]>;

const write = (path: string, content: string): ToolCall => ({
  name: "Write",
  input: { file_path: path, content },
});

/** The run that stands in the skills' examples. */
const EXAMPLE = "abc123";

/** All texts that the host has put into a conversation. */
function conversation({ body }: Ask): string {
  return body.messages
    .flatMap(({ content }) =>
      typeof content === "string" ? [content] : content.map(({ text }) => text ?? ""),
    )
    .join("\n");
}

/**
 * An orchestrator that knows nothing but the skill's text in its own request: it runs each build that stands there,
 * with its own run in place of the example's, makes the Agent call as it was built, looks at the gate, and goes on.
 */
function followsSkill(gate: string): Scenario {
  let first: string | null = null;
  const own = (build: string) => {
    if (first === null) return build;
    const [start = ""] = first.split("-spawn-");
    return build.replaceAll(/wf-\d{8}-abc123/g, start).replaceAll(EXAMPLE, start.slice(-6));
  };
  return (ask): Reply => {
    const builds = buildsIn(conversation(ask));
    const build = builds[Math.floor(ask.turn / 3)];
    if (build === undefined) return { text: `followed ${builds.length} steps` };
    if (ask.turn % 3 === 0) return { calls: [bash(own(build))] };
    if (ask.turn % 3 === 2) return { calls: [bash(gate)] };
    const { agent_input, spawn_payload } = JSON.parse(ask.lastToolResults[0]?.text ?? "null");
    first ??= String(spawn_payload.trace_id);
    return { calls: [{ name: "Agent", input: { ...agent_input, run_in_background: false } }] };
  };
}

/** A subagent that does its role's work and hands back a contract under the trace id in its own prompt. */
function worker(work: Work, statuses: string[] = []): Scenario {
  const left = [...statuses];
  return ({ firstPrompt, turn }): Reply => {
    const payload = payloadIn(firstPrompt);
    const calls = work[String(payload?.subagent_role)] ?? [];
    const call = calls[turn];
    if (call !== undefined) return { calls: [call].flat() };
    const written = calls
      .flat()
      .filter(({ name }) => name === "Write")
      .map(({ input }) => input.file_path);
    const contract = {
      trace_id: payload?.trace_id,
      status: left.shift() ?? "ok",
      result: { summary: "the part is done and checked", files_changed: written },
    };
    return { text: `Done.\n<return_contract>\n${JSON.stringify(contract)}\n</return_contract>` };
  };
}

const both =
  (main: Scenario, subagent: Scenario): Scenario =>
  (ask) =>
    ask.agentId === null ? main(ask) : subagent(ask);

const loads = (skill: string): ToolCall => ({
  name: "Skill",
  input: { skill: `spawn-guard:${skill}`, args: "the orders page" },
});

/** A skill's text as the host hands it to the model. */
function handedOut(skill: string): string {
  return skillText(skill).split("\n---\n")[1]?.split("$ARGUMENTS")[0]?.trim() ?? "";
}

describe("the orchestrator skills", () => {
  it("are loaded by a model without a question to the person", async () => {
    const run = await guardedRun({
      prompt: "MAIN",
      permissionMode: "default",
      model: script({ MAIN: [{ calls: ORCHESTRATORS.map(loads) }] }),
    });
    const [asked, told] = run.asks;
    expect(asked?.tools).toEqual(expect.arrayContaining(["Agent", "Bash", "Skill"]));
    expect(told?.lastToolResults.map(({ isError }) => isError)).toEqual(ORCHESTRATORS.map(() => false));
    for (const name of ORCHESTRATORS) expect(told && conversation(told)).toContain(handedOut(name));
  });

  it.each(ORCHESTRATORS)("/%s is there when a person types it, with what it is to do", async (name) => {
    const run = await guardedRun({
      prompt: `/spawn-guard:${name} the "orders" page; touch x`,
      model: script({}),
    });
    const [asked] = run.asks;
    expect(asked && conversation(asked)).toContain(`${handedOut(name)} the "orders" page; touch x\n`);
    expect(run.projectFiles()).not.toContain("x");
    const protocols = [...(asked ? conversation(asked) : "").matchAll(/`(\/[^`]+\/team-protocols\/[^`]+)`/g)];
    expect(protocols.map(([, path = ""]) => existsSync(path))).toEqual([true, true]);
  });
});

/** What the ledger has to say of each spawn, in the order of their trace ids. */
function tree({ spawns }: GuardedRun) {
  return spawns.map(({ role, depth, outcome, contract, agent, parent, origin }) => {
    return { role, depth, outcome, contract: contract?.status, bound: agent !== null, parent, origin };
  });
}

const SPAWN = { depth: 1, outcome: "completed", contract: "ok", bound: true, parent: null, origin: "caller" };

/** Every answer of a hook that refuses something. */
function refusals({ hookCalls }: GuardedRun) {
  return hookCalls.map(({ stdout }) => stdout).filter((answer) => JSON.stringify(answer).includes('"deny"'));
}

describe("a model that follows the text of /develop", () => {
  let run: GuardedRun;
  beforeAll(async () => {
    run = await guardedRun({
      prompt: "/spawn-guard:develop add slugify(title) to src/slug.js",
      model: both(
        followsSkill("ls -R src test"),
        worker({
          "software-engineer": [
            write(
              "src/slug.js",
              'exports.slugify = (title) => title.toLowerCase().replace(/[^a-z0-9]+/g, "-");\n',
            ),
          ],
          "security-engineer": [{ name: "Read", input: { file_path: "src/slug.js" } }],
          "qa-engineer": [
            write(
              "test/slug.test.js",
              'require("node:assert").equal(require("../src/slug.js").slugify("Two words"), "two-words");\n',
            ),
            bash("node --test"),
          ],
        }),
      ),
    });
  });

  it("spawns engineer, reviewer and tester in one run, each with a valid contract, and nothing is refused", () => {
    expect(run.result).toBe("followed 3 steps");
    expect(tree(run)).toEqual([
      { role: "software-engineer", ...SPAWN },
      { role: "security-engineer", ...SPAWN },
      { role: "qa-engineer", ...SPAWN },
    ]);
    const [start] = run.spawns[0]?.trace.split("001") ?? [];
    expect(run.spawns.map(({ trace }) => trace)).toEqual(
      ["001", "002", "003"].map((seq) => `${start}${seq}`),
    );
    expect(refusals(run)).toEqual([]);
  });

  it("hands the reviewer the engineer's report as data under its trace id", () => {
    const [engineer, reviewer] = run.spawns;
    expect(reviewer?.payload.untrusted_inputs).toContainEqual({
      source: `subagent:software-engineer:${engineer?.trace}`,
      wrapped: true,
    });
  });

  it("starts each when the one before has ended, and has code that its test passes on", () => {
    const events = run.hookCalls.map(({ event }) => event).filter((event) => /^Subagent/.test(event));
    expect(events).toEqual(run.spawns.flatMap(() => ["SubagentStart", "SubagentStop"]));
    execFileSync("node", ["--test"], { cwd: run.projectDir });
    expect(run.projectFiles()).toEqual(expect.arrayContaining(["src/slug.js", "test/slug.test.js"]));
  });
});

describe("a model that follows the text of /feature-design", () => {
  const folder = "docs/design/saved-filters";
  const specialist = (role: string) => agentCall(`spawn-guard:${role}`, `Write your document in ${folder}.`);
  let run: GuardedRun;
  beforeAll(async () => {
    run = await guardedRun({
      prompt: "/spawn-guard:feature-design filters that people can save",
      model: both(
        followsSkill(`ls ${folder}`),
        worker({
          "feature-design-lead": [
            specialist("product-manager"),
            [specialist("system-architect"), specialist("qa-engineer")],
            { name: "Glob", input: { pattern: `${folder}/*.md` } },
          ],
          "product-manager": [write(`${folder}/requirements.md`, "R1: a filter can be saved\n")],
          "system-architect": [write(`${folder}/architecture.md`, "R1: a table of filters\n")],
          "qa-engineer": [write(`${folder}/tests.md`, "R1: save, reload, still there\n")],
          "security-engineer": [write(`${folder}/threats.md`, "R1: a filter of somebody else\n")],
          "eval-judge": [{ name: "Read", input: { file_path: `${folder}/requirements.md` } }],
        }),
      ),
    });
  });
  const find = (role: string) => run.spawns.find((spawn) => spawn.role === role);

  it("has three specialists below the lead, the gap and the judge beside it, each bound and ended with a valid contract", () => {
    expect(run.result).toBe("followed 3 steps");
    const below = { ...SPAWN, depth: 2, parent: find("feature-design-lead")?.trace, origin: "attached" };
    const spawns = tree(run);
    expect(spawns).toHaveLength(6);
    expect(spawns).toEqual(
      expect.arrayContaining([
        { role: "feature-design-lead", ...SPAWN },
        { role: "product-manager", ...below },
        { role: "system-architect", ...below },
        { role: "qa-engineer", ...below },
        { role: "security-engineer", ...SPAWN },
        { role: "eval-judge", ...SPAWN },
      ]),
    );
    expect(refusals(run)).toEqual([]);
    expect(run.session.refusals).toEqual([]);
  });

  it("names the lead as the parent in what each specialist reads, and chains the run's own spawns", () => {
    const lead = find("feature-design-lead")?.trace ?? "";
    const read = run.asks.filter(({ agentId, turn }) => agentId !== null && turn === 0);
    const parents = read
      .map(({ firstPrompt }) => payloadIn(firstPrompt))
      .map((payload) => [payload?.subagent_role, payload?.parent_trace_id]);
    for (const role of ["product-manager", "system-architect", "qa-engineer"])
      expect(parents).toContainEqual([role, lead]);
    expect([find("security-engineer")?.trace, find("eval-judge")?.trace]).toEqual(
      ["002", "003"].map((seq) => lead.replace(/001$/, seq)),
    );
  });

  it("leaves each document written by its own role", () => {
    const documents = ["requirements", "architecture", "tests", "threats"].map(
      (name) => `${folder}/${name}.md`,
    );
    expect(run.projectFiles()).toEqual(expect.arrayContaining(documents));
  });

  it("gives no specialist more than the lead has", () => {
    const lead = find("feature-design-lead")?.payload.budget;
    expect(lead?.max_input_tokens).toBe(200_000);
    for (const { payload } of run.spawns.filter(({ depth }) => depth === 2)) {
      expect(payload.budget.max_input_tokens).toBeLessThan(lead?.max_input_tokens ?? 0);
      expect(payload.budget.timeout_ms).toBeLessThanOrEqual(lead?.timeout_ms ?? 0);
    }
  });
});

describe("a model that follows the text of", () => {
  it.each([
    ["team-bugfix", ["qa-engineer", "software-engineer", "software-engineer", "solution-architect"]],
    ["refactor", ["qa-engineer", "python-engineer", "software-engineer"]],
    ["migrate", ["db-engineer", "db-engineer", "data-engineer", "sre-engineer"]],
  ])("/%s spawns each of its roles in turn: %j", async (skill, roles) => {
    const run = await guardedRun({
      prompt: `/spawn-guard:${skill} the orders page`,
      model: both(followsSkill("true"), worker({})),
    });
    expect(tree(run)).toEqual(roles.map((role) => ({ role, ...SPAWN })));
    expect(refusals(run)).toEqual([]);
  });
});

describe("what a skill says to do with a report", () => {
  const ROLE = "software-engineer";

  /** The first build of /develop, and then what `again` makes of its arguments, in the same run. */
  async function attempts(
    status: string,
    again: (first: Record<string, unknown>) => Record<string, unknown>,
  ) {
    let build = "";
    let trace = "";
    const main: Scenario = (ask): Reply => {
      const [result] = ask.lastToolResults;
      if (ask.turn === 4) return { text: conversation(ask) };
      if (ask.turn % 2 === 1) {
        const { agent_input, spawn_payload } = JSON.parse(result?.text ?? "null");
        trace ||= spawn_payload.trace_id;
        return { calls: [{ name: "Agent", input: { ...agent_input, run_in_background: false } }] };
      }
      build ||= buildsIn(conversation(ask))[0] ?? "";
      if (ask.turn === 0) return { calls: [bash(build)] };
      const next = { ...again(argumentsIn(build)), run: trace.split("-")[2], seq: 2 };
      return { calls: [bash(build.replace(/\n[\s\S]*\n/, () => `\n${JSON.stringify(next)}\n`))] };
    };
    return await guardedRun({
      prompt: "/spawn-guard:develop add slugify(title) to src/slug.js",
      model: both(main, worker({}, [status])),
    });
  }

  it("is admitted after needs_clarification: the same task with the answer, under the next trace id", async () => {
    const run = await attempts("needs_clarification", ({ constraints, ...first }) => ({
      ...first,
      constraints: [
        ...(Array.isArray(constraints) ? constraints : []),
        "Answer: an empty title gives an empty text.",
      ],
    }));
    expect(tree(run)).toEqual([
      { role: ROLE, ...SPAWN, contract: "needs_clarification" },
      { role: ROLE, ...SPAWN },
    ]);
    expect(run.spawns[1]?.payload.constraints).toContain("Answer: an empty title gives an empty text.");
    expect(refusals(run)).toEqual([]);
    expect(run.result).not.toContain("retries left");
  });

  it("goes by the count of retries after failed, which stands beside the report", async () => {
    const run = await attempts("failed", (first) => first);
    expect(tree(run)).toEqual([
      { role: ROLE, ...SPAWN, contract: "failed" },
      { role: ROLE, ...SPAWN },
    ]);
    const [first] = run.spawns;
    expect(run.result).toMatch(
      new RegExp(`${first?.trace} .*contract failed; .*1 failed so far .*1 of 1 retries left`),
    );
  });
});
