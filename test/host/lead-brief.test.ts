import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { agentCall, guardedRun, payloadIn, removeRuns } from "./guarded-run.ts";
import { installClaude } from "./harness/claude-program.ts";
import type { Ask, Reply, Scenario, ToolCall } from "./harness/scripted-model.ts";

beforeAll(installClaude, 300_000);
afterAll(removeRuns);

/** Makes the call as it is and, when it is refused with a block to add, once more with that block. */
function insistent(call: ToolCall, done: string): Scenario {
  return ({ turn, lastToolResults: [result] }): Reply => {
    if (turn === 0) return { calls: [call] };
    const block = /<spawn_payload>\n.*\n<\/spawn_payload>/.exec(result?.text ?? "")?.[0];
    if (!result?.isError || block === undefined) return { text: done };
    return { calls: [{ ...call, input: { ...call.input, prompt: `${call.input.prompt}\n\n${block}` } }] };
  };
}

const lead = insistent(agentCall("spawn-guard:feature-design-lead", "LEAD the export"), "main done");
const specialist = insistent(agentCall("spawn-guard:product-manager", "PRODUCT the export"), "lead done");

function model(ask: Ask): Reply | Promise<Reply> {
  if (ask.firstPrompt.startsWith("LEAD")) return specialist(ask);
  return ask.firstPrompt.startsWith("PRODUCT") ? { text: "the product part is done" } : lead(ask);
}

describe("what the brief of feature-design-lead says of its Agent calls", () => {
  it.each([
    ["attach", 1],
    ["require", 2],
  ])("holds where payload_mode is %s: its specialist starts at call %i", async (mode, calls) => {
    const run = await guardedRun({ prompt: "start", model, options: { payload_mode: mode } });
    expect(run.spawns.map(({ role, depth, outcome }) => [role, depth, outcome])).toEqual([
      ["feature-design-lead", 1, "completed"],
      ["product-manager", 2, "completed"],
    ]);
    const [leader, child] = run.spawns;
    expect(child?.parent).toBe(leader?.trace);

    const [asked, ...rest] = run.asks.filter(({ firstPrompt }) => firstPrompt.startsWith("LEAD"));
    expect(asked?.tools.toSorted()).toEqual(["Agent", "Glob", "Grep", "Read"]);
    expect(rest).toHaveLength(calls);
    expect(rest.at(-1)?.lastText).toContain(`${child?.trace} (product-manager) completed`);
    expect(rest.at(-1)?.lastToolResults[0]?.text).toContain("the product part is done");

    const told = run.asks.find(({ firstPrompt }) => firstPrompt.startsWith("PRODUCT"));
    expect(told?.tools.toSorted()).toEqual(["Edit", "Glob", "Grep", "Read", "Write"]);
    expect(payloadIn(told?.firstPrompt ?? "")).toMatchObject({
      trace_id: child?.trace,
      parent_trace_id: leader?.trace,
      subagent_role: "product-manager",
      goal: "a part of the work",
    });
  });
});
