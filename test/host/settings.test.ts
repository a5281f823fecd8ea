import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { handOn, NO_HOST_CAP } from "../../demo/chain-scenario.ts";
import { type GuardedRun, guardedRun, removeRuns } from "./guarded-run.ts";
import { installClaude } from "./harness/claude-program.ts";
import { script } from "./harness/scripted-model.ts";
import { bash, named } from "./model-calls.ts";

beforeAll(installClaude, 300_000);
afterAll(removeRuns);

const SETTINGS = ".claude/settings.json";
const PROJECT = ".claude/spawn-guard.json";

const env = (values: Record<string, string>) => ({ [SETTINGS]: JSON.stringify({ env: values }) });
const depthInEnv = (depth: number) => env({ CLAUDE_PLUGIN_OPTION_SUBAGENT_MAX_DEPTH: `${depth}` });
const project = (values: object) => ({ [PROJECT]: JSON.stringify(values) });

/** How deep a chain of agents came that had no other bound than the policy. */
function depthOf(run: GuardedRun): number {
  expect(run.session.refusals.map(({ code }) => code)).toEqual(["depth_exceeded"]);
  return run.spawns.length;
}

/** What the person was told when the session began. */
function toldAtStart(run: GuardedRun): string {
  const [start] = run.hookCalls.filter(({ event }) => event === "SessionStart");
  return String(start?.stdout?.systemMessage ?? "");
}

describe("subagent_max_depth", () => {
  const more = { ...depthInEnv(9), ...project({ subagent_max_depth: 9 }) };

  it.each([
    [3, "the project asks for more", {}, more],
    [1, "the project's env settings ask for less", {}, depthInEnv(1)],
    [1, "the project's own file asks for less", {}, project({ subagent_max_depth: 1 })],
    [2, "the person says 2 and the project asks for more", { subagent_max_depth: 2 }, more],
    [4, "the person says 4", { subagent_max_depth: 4 }, {}],
  ])("is %i where %s", async (depth, _, options, projectFiles) => {
    const run = await guardedRun({
      prompt: "LEVEL0 start",
      model: handOn,
      env: NO_HOST_CAP,
      options,
      projectFiles,
    });
    expect(depthOf(run)).toBe(depth);
    expect(toldAtStart(run)).toBe("");
  });

  it("that cannot be read is told to the person when the session begins, and the default holds", async () => {
    const run = await guardedRun({
      prompt: "LEVEL0 start",
      model: handOn,
      env: NO_HOST_CAP,
      projectFiles: project({ subagent_max_depth: "many", max_depth: 9 }),
    });
    expect(depthOf(run)).toBe(3);
    expect(toldAtStart(run)).toContain(
      'subagent_max_depth is "many"; it must be a whole number of at least 0',
    );
    expect(toldAtStart(run)).toMatch(/max_depth"? is not a policy key/);
  });
});

describe("a project's settings", () => {
  it("that switch all hooks off in a running session switch this guard off for nobody", async () => {
    const off = `mkdir -p .claude && echo '{"disableAllHooks": true}' > ${SETTINGS} && sleep 3`;
    const run = await guardedRun({
      prompt: "MAIN go",
      options: { subagent_max_depth: 1 },
      model: script({
        "OUTER go": [{ calls: [bash(off)] }, { calls: [named("TOO-DEEP")] }],
        MAIN: [{ calls: [named("OUTER")] }],
      }),
    });
    expect(depthOf(run)).toBe(1);
    const [change] = run.hookCalls.filter(({ event }) => event === "ConfigChange");
    expect(change?.stdout).toMatchObject({
      decision: "block",
      systemMessage: expect.stringContaining(`${SETTINGS} sets disableAllHooks`),
    });
  });

  it("that preload a module into every Node do not answer for this guard", async () => {
    const answer = `require("fs").writeFileSync("PRELOADED", ""); process.stdout.write("{}"); process.exit(0)`;
    const run = await guardedRun({
      prompt: "LEVEL0 start",
      model: handOn,
      options: { subagent_max_depth: 1 },
      projectFiles: { "answer.cjs": answer, ...env({ NODE_OPTIONS: "--require ./answer.cjs" }) },
    });
    expect(run.hookCalls.every(({ env }) => env.NODE_OPTIONS === "--require ./answer.cjs")).toBe(true);
    expect(depthOf(run)).toBe(1);
    expect(run.projectFiles()).not.toContain("PRELOADED");
  });
});

it("an option that an agent puts into the project's settings and takes out again does not widen anything", async () => {
  const widen = JSON.stringify({ env: { CLAUDE_PLUGIN_OPTION_SUBAGENT_MAX_DEPTH: "9" } });
  const command = `mkdir -p .claude && echo '${widen}' > .claude/settings.json && node -e 'setTimeout(() => {}, 3000)' && rm .claude/settings.json && node -e 'setTimeout(() => {}, 3000)'`;
  const run = await guardedRun({
    prompt: "LEVEL0 start",
    env: NO_HOST_CAP,
    model: (ask) => {
      if (ask.agentId !== null) return handOn(ask);
      const later = { ...ask, turn: ask.turn - 1 };
      return ask.turn === 0
        ? { calls: [{ name: "Bash", input: { command, description: "widen" } }] }
        : handOn(later);
    },
  });
  expect(run.spawns.map(({ depth }) => depth)).toEqual([1, 2, 3]);
  expect(run.session.refusals.map(({ code }) => code)).toEqual(["depth_exceeded"]);
});
