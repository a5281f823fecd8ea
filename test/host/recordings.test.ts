import { readdirSync } from "node:fs";
import { join } from "node:path";
import { beforeAll, describe, expect, it } from "vitest";
import { installClaude } from "./harness/claude-program.ts";
import { type RecordedCall, readRecording, recording } from "./harness/recording.ts";
import { runScenario, type ScenarioName, scenarios } from "./harness/scenarios.ts";

beforeAll(installClaude);

const files = readdirSync(join(import.meta.dirname, "../recordings"));

describe("the recordings", () => {
  it("are one for each scenario", () => {
    expect(files.sort()).toEqual(
      Object.keys(scenarios)
        .map((name) => `${name}.ndjson`)
        .sort(),
    );
  });

  it.each(Object.keys(scenarios))("%s begins and ends a session and names no real folder", (name) => {
    const calls = readRecording(name);
    expect(calls.at(0)?.input.hook_event_name).toBe("SessionStart");
    expect(calls.at(-1)?.input.hook_event_name).toBe("SessionEnd");
    expect(new Set(calls.map((call) => call.input.session_id)).size).toBe(1);
    for (const call of calls)
      expect(call.input.transcript_path).toMatch(/^\/home\/dev\/\.claude\/projects\//);
    expect(JSON.stringify(calls)).not.toMatch(/spawn-guard-host|recorder-/);
  });
});

describe("the host still does what was recorded", () => {
  it("for nested foreground spawns, in the same order", async () => {
    const [now, then] = await again("nested-foreground");
    expect(now).toEqual(then);
  });

  it("for four spawns of one type in one response, in some order", async () => {
    const [now, then] = await again("parallel-same-type-foreground");
    expect(now.sort()).toEqual(then.sort());
  });
});

async function again(name: ScenarioName): Promise<[string[], string[]]> {
  const run = await runScenario(name);
  const shapes: [string[], string[]] = [recording(run).map(shape), readRecording(name).map(shape)];
  run.cleanup();
  return shapes;
}

/** What a guard relies on in a hook call: who, what, which fields, and what the sidecar tells by then. */
function shape({ input, sidecar }: RecordedCall): string {
  const who = input.agent_type ?? "main";
  const what = [input.hook_event_name, input.tool_name].filter(Boolean).join(" ");
  const depth = sidecar === undefined || sidecar === null ? "" : ` depth ${sidecar.spawnDepth}`;
  return `${who}${depth}: ${what} (${[...Object.keys(input), ...keys(sidecar)].sort().join(" ")})`;
}

function keys(sidecar: RecordedCall["sidecar"]): string[] {
  const known = ["agentType", "parentAgentId", "spawnDepth", "toolUseId"];
  return known.filter((key) => sidecar?.[key] !== undefined).map((key) => `sidecar.${key}`);
}
