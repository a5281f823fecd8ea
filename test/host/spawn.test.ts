import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { installClaude } from "./harness/claude-program.ts";
import { recordedPlugin } from "./harness/recorded-plugin.ts";
import { type RunOptions, runClaude } from "./harness/run-claude.ts";
import type { Ask, Reply, Scenario } from "./harness/scripted-model.ts";
import { readLedger } from "./read-ledger.ts";

const runs: { cleanup(): void }[] = [];

async function guarded(options: Omit<RunOptions, "pluginDirs">) {
  const run = await runClaude({ ...options, pluginDirs: [recordedPlugin("plugin")] });
  runs.push(run);
  return { ...run, ledger: readLedger(run.pluginData("spawn-guard"), run.sessionId) };
}

/** Each level hands the whole job to a general-purpose agent; one that is refused does it itself. */
const chain: Scenario = (ask: Ask): Reply => {
  const level = Number(/LEVEL(\d)/.exec(ask.firstPrompt)?.[1] ?? 0);
  if (ask.turn === 0) return { calls: [agent(`LEVEL${level + 1} go on, please`)] };
  const [result] = ask.lastToolResults;
  if (result?.isError && result.text.includes("Do the work yourself"))
    return { text: `level ${level} did it alone` };
  return { text: `level ${level} heard: ${result?.text ?? ""}` };
};

function agent(prompt: string, more: Record<string, unknown> = {}) {
  return {
    name: "Agent",
    input: {
      description: "hand the job on",
      prompt,
      subagent_type: "general-purpose",
      run_in_background: false,
      ...more,
    },
  };
}

describe("in the real Claude Code", () => {
  beforeAll(() => installClaude(), 300_000);
  afterAll(() => {
    for (const run of runs) run.cleanup();
  });

  it("refuses the fourth nested spawn, and the work comes back up all the same", async () => {
    const run = await guarded({
      prompt: "LEVEL0 start",
      model: chain,
      env: { CLAUDE_CODE_MAX_SUBAGENT_SPAWN_DEPTH: "9" },
    });
    expect(run.result).toContain("level 3 did it alone");
    expect(run.ledger.spawns.map(({ depth, outcome }) => [depth, outcome])).toEqual([
      [1, "completed"],
      [2, "completed"],
      [3, "completed"],
    ]);
    expect(run.ledger.session.refusals.map(({ code }) => code)).toEqual(["depth_exceeded"]);
    expect(run.ledger.session.running).toEqual({});
  });
});
