import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { handOn, NO_HOST_CAP } from "../../demo/chain-scenario.ts";
import { agentCall, guardedRun, payloadIn, removeRuns } from "./guarded-run.ts";
import { installClaude } from "./harness/claude-program.ts";
import type { Ask } from "./harness/scripted-model.ts";
import { script } from "./harness/scripted-model.ts";

beforeAll(installClaude, 300_000);
afterAll(removeRuns);

describe("a chain of agents none of whose prompts names a parent", () => {
  it.each([
    [3, {}],
    [1, { subagent_max_depth: 1 }],
  ])("is cut after depth %i, and the refused agent's own work comes back up", async (limit, options) => {
    const run = await guardedRun({ prompt: "LEVEL0 start", model: handOn, env: NO_HOST_CAP, options });
    expect(run.result).toContain(`level ${limit} was refused and did the work itself`);
    expect(run.spawns.map(({ depth, outcome }) => [depth, outcome])).toEqual(
      Array.from({ length: limit }, (_, index) => [index + 1, "completed"]),
    );
    expect(run.session.refusals.map(({ code }) => code)).toEqual(["depth_exceeded"]);
    expect(run.session.running).toEqual({});
  });

  it("knows each parent, whatever the prompts leave out", async () => {
    const run = await guardedRun({ prompt: "LEVEL0 start", model: handOn, env: NO_HOST_CAP });
    const [first, second, third] = run.spawns;
    expect([first?.parent, second?.parent, third?.parent]).toEqual([null, first?.trace, second?.trace]);
    const told = run.asks.filter(({ turn, agentId }) => turn === 0 && agentId !== null);
    expect(told.map(({ firstPrompt }) => payloadIn(firstPrompt)?.parent_trace_id)).toEqual([
      null,
      first?.trace,
      second?.trace,
    ]);
    expect(told.map(({ firstPrompt }) => /at depth (\d) of at most 3/.exec(firstPrompt)?.[1])).toEqual([
      "1",
      "2",
      "3",
    ]);
    expect(told.at(-1)?.firstPrompt).toContain("You may not spawn subagents");
    expect(told.every(({ lastText }) => lastText.includes("<return_contract>"))).toBe(true);
  });
});

describe("a nested spawn with a payload of its own", () => {
  const given = (parent: string | null | undefined) => (ask: Ask) => ({
    calls: [
      agentCall(
        "general-purpose",
        `INNER\n<spawn_payload>\n${JSON.stringify({
          trace_id: "wf-20261130-abc123-spawn-007",
          ...(parent === undefined ? {} : { parent_trace_id: parent }),
          subagent_role: "general-purpose",
          goal: "look at one part of it",
          constraints: [],
          allowed_tools: ["Read"],
          budget: {
            max_input_tokens: 1000,
            max_output_tokens: 100,
            max_tool_calls: 5,
            max_turns: 5,
            timeout_ms: 30000,
          },
        })}\n</spawn_payload>\n${ask.turn}`,
      ),
    ],
  });

  it.each([
    ["leaves its parent out", undefined],
    ["says null", null],
  ])("that %s gets the caller's", async (_, parent) => {
    const run = await guardedRun({
      prompt: "MAIN",
      model: script({
        INNER: [{ text: "inner done" }],
        OUTER: [given(parent)],
        MAIN: [{ calls: [agentCall("general-purpose", "OUTER")] }],
      }),
    });
    const [outer, inner] = run.spawns;
    expect(inner).toMatchObject({
      trace: "wf-20261130-abc123-spawn-007",
      parent: outer?.trace,
      depth: 2,
      origin: "caller",
    });
    const told = run.asks.find(({ firstPrompt }) => firstPrompt.startsWith("INNER"));
    expect(payloadIn(told?.firstPrompt ?? "")?.parent_trace_id).toBe(outer?.trace);
  });

  it("that names a false parent is refused, and the reason reaches the caller", async () => {
    const run = await guardedRun({
      prompt: "MAIN",
      model: script({
        OUTER: [
          given("wf-20261130-abc123-spawn-001"),
          (ask) => ({ text: ask.lastToolResults[0]?.text ?? "" }),
        ],
        MAIN: [{ calls: [agentCall("general-purpose", "OUTER")] }],
      }),
    });
    expect(run.spawns).toHaveLength(1);
    expect(run.session.refusals.map(({ code }) => code)).toEqual(["parent_mismatch"]);
    expect(
      run.asks.some(({ lastToolResults }) =>
        lastToolResults.some(({ text }) => text.includes(`made by ${run.spawns[0]?.trace}`)),
      ),
    ).toBe(true);
  });
});

it("binds four parallel spawns of one type each to its own trace id", async () => {
  const names = ["PART-A", "PART-B", "PART-C", "PART-D"];
  const work = { calls: [{ name: "Bash", input: { command: "true", description: "work" } }] };
  const run = await guardedRun({
    prompt: "MAIN",
    model: script({
      ...Object.fromEntries(names.map((name) => [name, [work]])),
      MAIN: [{ calls: names.map((name) => agentCall("general-purpose", name)) }],
    }),
  });
  const told = run.asks.filter(({ turn, agentId }) => turn === 0 && agentId !== null);
  const toldByAgent = Object.fromEntries(
    told.map(({ agentId, firstPrompt }) => [agentId, payloadIn(firstPrompt)?.trace_id]),
  );
  expect(Object.fromEntries(run.spawns.map(({ agent, trace }) => [agent, trace]))).toEqual(toldByAgent);
  expect(new Set(Object.values(toldByAgent)).size).toBe(4);
});

it("leaves no reservation behind for an agent type that does not exist", async () => {
  const run = await guardedRun({
    prompt: "MAIN",
    model: script({ MAIN: [{ calls: [agentCall("no-such-agent", "go")] }] }),
  });
  expect(run.session).toMatchObject({ admitted: 0, running: {} });
  expect(run.spawns.map(({ outcome }) => outcome)).toEqual(["never_started"]);
});

it("corrects a bare role name to the plugin's, which the host would not know", async () => {
  const run = await guardedRun({
    prompt: "MAIN",
    model: script({
      REVIEW: [{ text: "reviewed" }],
      MAIN: [{ calls: [agentCall("qa-engineer", "REVIEW")] }],
    }),
  });
  expect(run.spawns).toMatchObject([
    { agentType: "spawn-guard:qa-engineer", role: "qa-engineer", outcome: "completed" },
  ]);
});

describe("/subagent-spawn", () => {
  const nasty = `it's "quoted" $(touch INJECTED) \`touch INJECTED\`; touch INJECTED`;
  const args = `--role frontend-engineer --task "${nasty.replace(/["\\$`]/g, "\\$&")}"`;
  const result = (text: string) =>
    JSON.parse(/<subagent_spawn_result>\n([\s\S]*?)\n<\/subagent_spawn_result>/.exec(text)?.[1] ?? "null");

  it("typed, hands the built payload to the model, and nothing of it meets a shell", async () => {
    const run = await guardedRun({ prompt: `/subagent-spawn ${args}`, model: () => ({ text: "shown" }) });
    const built = result(run.asks[0]?.lastText ?? "");
    expect(built).toMatchObject({
      validation: "ok",
      spawn_payload: { goal: nasty, subagent_role: "frontend-engineer" },
    });
    expect(run.projectFiles()).not.toContain("INJECTED");
    expect(run.spawns).toEqual([]);
    const protocols = JSON.stringify(run.asks[0]?.body.messages).match(/`[^`]*\/team-protocols\/[^`]*`/g);
    expect(protocols).toHaveLength(2);
    for (const path of protocols ?? []) expect(existsSync(path.slice(1, -1))).toBe(true);
  });

  it("called through the Skill tool, does the same", async () => {
    const run = await guardedRun({
      prompt: "MAIN",
      model: script({
        MAIN: [{ calls: [{ name: "Skill", input: { skill: "spawn-guard:subagent-spawn", args } }] }],
      }),
    });
    const built = result(run.asks.at(-1)?.lastText ?? "");
    expect(built).toMatchObject({ validation: "ok", spawn_payload: { goal: nasty } });
    expect(run.projectFiles()).not.toContain("INJECTED");
  });

  it("through the Skill tool and into an Agent call, gives a spawn with the caller's payload", async () => {
    const run = await guardedRun({
      prompt: "MAIN",
      model: script({
        "You are the qa-engineer": [{ text: "tested" }],
        MAIN: [
          {
            calls: [
              {
                name: "Skill",
                input: { skill: "subagent-spawn", args: '--role qa-engineer --task "test the login form"' },
              },
            ],
          },
          (ask) => ({
            calls: [
              { name: "Agent", input: { ...result(ask.lastText).agent_input, run_in_background: false } },
            ],
          }),
        ],
      }),
    });
    expect(run.spawns).toMatchObject([
      { origin: "caller", role: "qa-engineer", depth: 1, outcome: "completed" },
    ]);
  });
});
