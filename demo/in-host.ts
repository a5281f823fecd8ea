import { writeFileSync } from "node:fs";
import { installClaude } from "../test/host/harness/claude-program.ts";
import { recordedPlugin } from "../test/host/harness/recorded-plugin.ts";
import { type Run, runClaude } from "../test/host/harness/run-claude.ts";
import { readLedger } from "../test/host/read-ledger.ts";
import { handOn, NO_HOST_CAP } from "./chain-scenario.ts";
import { RECORDING } from "./replay.ts";
import { sessionTree } from "./session-tree.ts";

/** The demo in the real Claude Code, with a scripted model on loopback; `record` keeps what its hooks were sent. */
export async function inHost(
  plugin: string,
  record: boolean,
  print: (text: string) => void,
): Promise<boolean> {
  await installClaude();
  const run = await runClaude({
    prompt: "LEVEL0 start",
    model: handOn,
    env: NO_HOST_CAP,
    pluginDirs: [recordedPlugin(plugin)],
  });
  try {
    if (record) writeFileSync(RECORDING, recorded(run));
    const { session, spawns } = readLedger(run.pluginData("spawn-guard"), run.sessionId);
    print(`The real Claude Code, each agent handing its job on, answered:\n${run.result}\n`);
    print(sessionTree(session, spawns));
    return session.refusals.length === 1 && spawns.length === 3;
  } finally {
    run.cleanup();
  }
}

function recorded(run: Run): string {
  const lines = run.hookCalls.map(({ input, sidecar }) => JSON.stringify({ input, sidecar }));
  return `${lines.join("\n")}\n`
    .replaceAll(run.home, "/home/dev")
    .replaceAll(run.home.replaceAll(/[^A-Za-z0-9]/g, "-"), "-home-dev");
}
