import { cpSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EVENT_TABLE, hooksJson } from "../../src/hooks/event-table.ts";
import { matchesTool } from "../support/host-matcher.ts";
import { HOST_TOOLS } from "../support/host-tools.ts";
import { type GuardedRun, guardedRun, removeRuns } from "./guarded-run.ts";
import { installClaude } from "./harness/claude-program.ts";
import { script } from "./harness/scripted-model.ts";
import { temporaryFolder } from "./harness/temporary-folder.ts";
import { bash, named } from "./model-calls.ts";

beforeAll(installClaude, 300_000);
afterAll(removeRuns);

const model = script({
  MAIN: [{ calls: [bash(), named("CHILD")] }],
  CHILD: [{ calls: [bash("echo child")] }],
});

/** Which of our scripts the host started at PreToolUse, for which tool and on which thread. */
function asked({ hookCalls }: GuardedRun): string[] {
  return hookCalls
    .filter(({ event }) => event === "PreToolUse")
    .map(({ input }) => `${input.tool_name} ${input.agent_id === undefined ? "main" : "child"}`);
}

describe("the host", () => {
  it("names no tool but those that the event table was tested with, and asks one of our hooks about a call", async () => {
    const run = await guardedRun({ prompt: "MAIN go", model });
    const [start] = run.streamEvents.filter(({ subtype }) => subtype === "init");
    const tools = start?.tools as string[];
    expect(tools.length).toBeGreaterThan(10);
    expect(tools.filter((tool) => !HOST_TOOLS.includes(tool))).toEqual([]);
    for (const tool of tools) {
      const rows = EVENT_TABLE.filter(
        ({ event, matcher }) => event === "PreToolUse" && matchesTool(matcher, tool),
      );
      expect(rows, tool).toHaveLength(1);
    }
    expect(asked(run).sort()).toEqual(["Agent main", "Bash child", "Bash main"]);
  });

  it("runs the hooks that need no shell alike", async () => {
    const plugin = join(temporaryFolder("no-shell"), "plugin");
    cpSync("plugin", plugin, { recursive: true });
    writeFileSync(join(plugin, "hooks/hooks.json"), JSON.stringify(hooksJson("node")));
    const run = await guardedRun({ prompt: "MAIN go", model }, plugin);
    expect(asked(run).sort()).toEqual(["Agent main", "Bash child", "Bash main"]);
    expect(run.spawns.map(({ outcome, meter }) => ({ outcome, calls: meter.toolCalls }))).toEqual([
      { outcome: "completed", calls: 1 },
    ]);
  });
});
