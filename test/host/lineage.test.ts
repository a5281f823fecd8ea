import { resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { NO_HOST_CAP } from "../../demo/chain-scenario.ts";
import { type GuardedRun, guardedRun, payloadIn, removeRuns } from "./guarded-run.ts";
import { claudeProgram, installClaude } from "./harness/claude-program.ts";
import { recorderPlugin } from "./harness/recorder-plugin.ts";
import { type Ask, type Scenario, script, type ToolCall } from "./harness/scripted-model.ts";
import { bash, callId, loadTools, named, promptWithPayload, spawnOf } from "./model-calls.ts";
import { readLedger } from "./read-ledger.ts";

beforeAll(installClaude, 300_000);
afterAll(removeRuns);

/** What the host answered the call of that name with. */
function answerTo(run: GuardedRun, name: string): string {
  const results = run.asks.flatMap(({ lastToolResults }) => lastToolResults);
  return results.find(({ toolUseId }) => toolUseId === callId(name))?.text ?? "no answer";
}

/** A chain of general-purpose agents LEVEL1, LEVEL2, … that the main thread begins; the last does as told. */
function chain(depth: number, last: Scenario[], between: Scenario[] = []): Scenario {
  const table: Record<string, Scenario[]> = {
    MAIN: [() => ({ calls: [named("LEVEL1")] })],
    [`LEVEL${depth} go`]: last,
  };
  for (let level = 1; level < depth; level += 1) {
    const here = level === depth - 1 ? between : [];
    table[`LEVEL${level} go`] = [...here, () => ({ calls: [named(`LEVEL${level + 1}`)] })];
  }
  return script(table);
}

const ownTrace = ({ firstPrompt }: Ask) => String(payloadIn(firstPrompt)?.trace_id);
const ownParent = ({ firstPrompt }: Ask) => String(payloadIn(firstPrompt)?.parent_trace_id);

function claiming(name: string, members: Record<string, unknown>): ToolCall {
  return named(name, "general-purpose", { prompt: promptWithPayload(name, members) });
}

/** Spawns whose payloads say this and that of where they come from. */
function claims(ask: Ask, at: string): ToolCall[] {
  return [
    claiming(`${at}-RIGHT`, { parent_trace_id: ownTrace(ask) }),
    claiming(`${at}-MISSING`, {}),
    claiming(`${at}-NULL`, { parent_trace_id: null }),
    claiming(`${at}-GRANDPARENT`, { parent_trace_id: ownParent(ask) }),
    claiming(`${at}-ELSEWHERE`, { parent_trace_id: "wf-20261130-other0-spawn-001" }),
    claiming(`${at}-ITSELF`, {
      trace_id: "wf-20261130-self00-spawn-001",
      parent_trace_id: "wf-20261130-self00-spawn-001",
    }),
    claiming(`${at}-CALLER`, { trace_id: ownTrace(ask), parent_trace_id: ownTrace(ask) }),
    claiming(`${at}-ANCESTOR`, { trace_id: ownParent(ask), parent_trace_id: ownTrace(ask) }),
  ];
}

describe("a payload that says where it comes from", () => {
  let run: GuardedRun;

  beforeAll(async () => {
    run = await guardedRun({
      prompt: "MAIN go",
      env: NO_HOST_CAP,
      model: chain(
        3,
        [(ask) => ({ calls: claims(ask, "THREE") })],
        [(ask) => ({ calls: claims(ask, "TWO") })],
      ),
    });
  }, 60_000);

  const names = ["RIGHT", "MISSING", "NULL", "GRANDPARENT", "ELSEWHERE", "ITSELF", "CALLER", "ANCESTOR"];

  it.each(names)("does not get its spawn past depth 3: %s", (name) => {
    expect(spawnOf(run, `THREE-${name}`)).toBeUndefined();
    expect(answerTo(run, `THREE-${name}`)).toContain("would be at depth 4; the limit is 3");
  });

  it.each(["RIGHT", "MISSING", "NULL"])(
    "is believed below the limit where it is right or silent: %s",
    (name) => {
      expect(spawnOf(run, `TWO-${name}`)).toMatchObject({
        depth: 3,
        parent: spawnOf(run, "LEVEL2")?.trace,
        outcome: "completed",
      });
    },
  );

  it.each([
    ["GRANDPARENT", "parent_trace_id is"],
    ["ELSEWHERE", "parent_trace_id is"],
    ["ITSELF", "parent_trace_id is"],
    ["CALLER", "has already been used in this session"],
    ["ANCESTOR", "has already been used in this session"],
  ])("is refused below the limit where it is false: %s", (name, reason) => {
    expect(spawnOf(run, `TWO-${name}`)).toBeUndefined();
    expect(answerTo(run, `TWO-${name}`)).toContain(reason);
  });

  it("leaves the chain itself as it was", () => {
    expect([1, 2, 3].map((level) => spawnOf(run, `LEVEL${level}`))).toMatchObject([
      { depth: 1, parent: null, outcome: "completed" },
      { depth: 2, parent: spawnOf(run, "LEVEL1")?.trace, outcome: "completed" },
      { depth: 3, parent: spawnOf(run, "LEVEL2")?.trace, outcome: "completed" },
    ]);
    expect(run.session).toMatchObject({ admitted: 6, refused: 13, running: {} });
  });
});

it("an agent of another type than the one admitted may call nothing", async () => {
  const run = await guardedRun({
    prompt: "MAIN go",
    pluginDirs: [recorderPlugin({ name: "late", events: ["PreToolUse"] })],
    hooks: async ({ hook_event_name: hookEventName, tool_name: tool, tool_input: input }) => {
      if (tool !== "Agent") return undefined;
      // The hook that finishes last wins.
      await new Promise((done) => setTimeout(done, 1500));
      const updatedInput = { ...input, subagent_type: "late:worker" };
      return { hookSpecificOutput: { hookEventName, updatedInput } };
    },
    model: script({
      "SWAPPED go": [{ calls: [bash("touch HERE")] }],
      MAIN: [{ calls: [named("SWAPPED", "Explore")] }],
    }),
  });
  expect(spawnOf(run, "SWAPPED")).toMatchObject({ agentType: "Explore", ranAs: "late:worker" });
  const denied = run.asks.filter(({ agentId }) => agentId !== null).at(-1)?.lastToolResults[0]?.text;
  expect(denied).toContain('Agent type "Explore" was admitted, but "late:worker" was started in its place');
  expect(run.projectFiles()).not.toContain("HERE");
  expect(run.session.running).toEqual({});
});

it("a forked skill called at depth 3 is taken in at depth 4 and may call nothing", async () => {
  const run = await guardedRun({
    prompt: "MAIN go",
    pluginDirs: [recorderPlugin({ events: [] })],
    model: (ask) =>
      ask.firstPrompt.includes("FORKED-SKILL")
        ? { ...(ask.turn < 2 ? { calls: [bash("touch HERE")] } : { text: "gave up" }) }
        : chain(3, [() => ({ calls: [{ name: "Skill", input: { skill: "probe:forked" } }] })])(ask),
  });
  const adopted = run.spawns.find(({ origin }) => origin === "adopted");
  expect(adopted).toMatchObject({
    depth: 4,
    parent: spawnOf(run, "LEVEL3")?.trace,
    barred: "depth_exceeded",
    outcome: "completed",
  });
  expect(run.projectFiles()).not.toContain("HERE");
  expect(run.session).toMatchObject({ admitted: 4, running: {} });
});

describe("the Workflow tool", () => {
  const input = {
    script: `export const meta = { name: 'x', description: 'd', phases: [{ title: 'p' }] }
return await parallel([() => agent('PART-ONE'), () => agent('PART-TWO')]);`,
  };
  const launch = script({
    "PART-ONE": [{ calls: [bash("touch ONE")] }],
    "PART-TWO": [{ calls: [bash("touch TWO")] }],
    MAIN: [{ calls: [loadTools] }, { calls: [{ name: "Workflow", input, id: callId("WORKFLOW") }] }],
  });

  it("starts agents that are taken in and counted, and the one beyond a cap may call nothing", async () => {
    const run = await guardedRun({
      prompt: "MAIN go",
      model: launch,
      options: { max_spawns_per_session: 1 },
    });
    const adopted = {
      origin: "adopted",
      agentType: "workflow-subagent",
      parent: null,
      depth: 1,
      doubt: null,
    };
    expect(run.spawns).toMatchObject([adopted, adopted]);
    expect(run.spawns.map(({ barred }) => barred).sort()).toEqual(["spawns_exhausted", null].sort());
    expect(run.projectFiles().filter((file) => file === "ONE" || file === "TWO")).toHaveLength(1);
    expect(run.spawns.map(({ outcome }) => outcome)).toEqual(["completed", "completed"]);
    expect(run.session).toMatchObject({ admitted: 2, running: {}, launches: [] });
  });

  it.each([
    ["deny", "is switched off here (workflow_tool)"],
    ["ask", "workflow_tool is ask"],
  ])("starts none where workflow_tool is %s and nobody is there", async (mode, reason) => {
    const run = await guardedRun({ prompt: "MAIN go", model: launch, options: { workflow_tool: mode } });
    expect(run.spawns).toEqual([]);
    expect(answerTo(run, "WORKFLOW")).toContain(reason);
  });
});

it("calls of one response are admitted up to each cap exactly, and the same attempt is told so", async () => {
  const several = (name: string, count: number) =>
    Array.from({ length: count }, (_, index) => named(`${name}-${index}`));
  const run = await guardedRun({
    prompt: "MAIN go",
    options: { max_concurrent_spawns: 4, max_children_per_spawn: 2, max_spawns_per_session: 8 },
    model: script({
      WIDE: [{ calls: [bash("sleep 2")] }],
      "PARENT go": [{ calls: several("CHILD", 4) }],
      MAIN: [
        { calls: several("WIDE", 7) },
        { calls: [named("PARENT")] },
        { calls: several("LAST", 3) },
        { calls: several("LAST", 3).map((call) => ({ ...call, id: `${call.id}again` })) },
      ],
    }),
  });
  const admitted = (name: string) => run.spawns.filter(({ call }) => call?.startsWith(callId(name))).length;
  expect(["WIDE", "PARENT", "CHILD", "LAST"].map(admitted)).toEqual([4, 1, 2, 1]);
  expect(run.spawns.every(({ outcome }) => outcome === "completed")).toBe(true);
  expect(run.session).toMatchObject({ admitted: 8, refused: 10, running: {} });
  const refused = run.session.refusals.map(({ code, times }) => `${code} ${times}`).sort();
  expect(refused).toEqual([
    "children_exceeded 1",
    "children_exceeded 1",
    "concurrency_exceeded 1",
    "concurrency_exceeded 1",
    "concurrency_exceeded 1",
    // The one that was admitted is refused for the first time, and the other two for the second.
    "spawns_exhausted 1",
    "spawns_exhausted 2",
    "spawns_exhausted 2",
  ]);
  const told = run.asks.at(-1)?.lastToolResults.map(({ text }) => text) ?? [];
  expect(
    told.filter((text) => text.includes("Already refused (spawns_exhausted), now 2 times")),
  ).toHaveLength(2);
});

it("a Claude Code that an agent's shell starts counts its depth on from there", async () => {
  const sessionId = "0a0a0a0a-1111-4222-8333-444444444444";
  const nested = [
    `"${claudeProgram()}"`,
    ...["-p", '"NESTED go"', "--plugin-dir", `"${resolve("plugin")}"`],
    ...["--session-id", sessionId, "--dangerously-skip-permissions"],
  ];
  const run = await guardedRun({
    prompt: "MAIN go",
    env: NO_HOST_CAP,
    model: script({
      "OUTER go": [{ calls: [bash(nested.join(" "))] }],
      "NESTED go": [{ calls: [named("INNER")] }],
      "INNER go": [{ calls: [named("INNERMOST")] }],
      MAIN: [{ calls: [named("OUTER")] }],
    }),
  });
  expect(run.spawns).toMatchObject([{ call: callId("OUTER"), depth: 1 }]);
  const inner = readLedger(run.pluginData("spawn-guard"), sessionId);
  expect(inner.spawns).toMatchObject([
    { call: callId("INNER"), depth: 3, parent: null, outcome: "completed" },
  ]);
  expect(inner.session).toMatchObject({ baseDepth: 2, admitted: 1, refused: 1, running: {} });
  expect(answerTo(run, "INNERMOST")).toContain("would be at depth 4; the limit is 3");
});
