import { readdirSync } from "node:fs";
import { auditFolder } from "../../src/acs/audit-folder.ts";
import type { Receipt } from "../../src/acs/envelope.ts";
import { verifySession } from "../../src/acs/verify-session.ts";
import { exportLines } from "../../src/cli/audit-show.ts";
import type { SessionState } from "../../src/ledger/session-state.ts";
import type { SpawnRecord } from "../../src/ledger/spawn-record.ts";
import { recordedPlugin } from "./harness/recorded-plugin.ts";
import { type Run, type RunOptions, runClaude } from "./harness/run-claude.ts";
import type { ToolCall } from "./harness/scripted-model.ts";
import { readLedger } from "./read-ledger.ts";

export type GuardedRun = Run & {
  session: SessionState;
  spawns: SpawnRecord[];
  /** of all chains, each in its order */
  receipts: Receipt[];
  projectFiles(): string[];
};

const runs: Run[] = [];

/** Runs the real Claude Code with the built plugin, and reads what its ledger says afterwards. */
export async function guardedRun(
  { pluginDirs = [], ...options }: RunOptions,
  plugin = "plugin",
): Promise<GuardedRun> {
  const run = await runClaude({ ...options, pluginDirs: [recordedPlugin(plugin), ...pluginDirs] });
  runs.push(run);
  const failed = run.hookCalls.filter(
    ({ plugin, exitCode, stderr }) => plugin === "spawn-guard" && (exitCode !== 0 || stderr !== ""),
  );
  if (failed.length > 0) throw new Error(`hooks failed: ${JSON.stringify(failed.slice(0, 3), null, 1)}`);
  const ledger = readLedger(run.pluginData("spawn-guard"), run.sessionId);
  const receipts = soundReceipts(run.pluginData("spawn-guard"), run.sessionId, ledger.spawns);
  return {
    ...run,
    ...ledger,
    receipts,
    projectFiles: () => readdirSync(run.projectDir, { recursive: true }).map(String),
  };
}

/** Every run leaves whole chains, with a receipt for each decision. */
function soundReceipts(data: string, sessionId: string, spawns: readonly SpawnRecord[]): Receipt[] {
  const folder = auditFolder(data, sessionId);
  const { broken, notices } = verifySession(folder, sessionId, null, spawns);
  if (broken.length > 0 || notices.length > 0) {
    throw new Error(`the audit chain is not whole: ${JSON.stringify({ broken, notices }, null, 1)}`);
  }
  return exportLines([folder])
    .trim()
    .split("\n")
    .map((line): Receipt => JSON.parse(line));
}

export function removeRuns(): void {
  for (const run of runs.splice(0)) run.cleanup();
}

/** A foreground Agent call, unless `more` says otherwise. */
export function agentCall(type: string, prompt: string, more: Record<string, unknown> = {}): ToolCall {
  const input = {
    description: "a part of the work",
    prompt,
    subagent_type: type,
    run_in_background: false,
    ...more,
  };
  return { name: "Agent", input };
}

/** The payload in a prompt, or null. */
export function payloadIn(prompt: string): Record<string, unknown> | null {
  const block = /^<spawn_payload>\n(.*)\n<\/spawn_payload>$/m.exec(prompt);
  return block === null ? null : JSON.parse(block[1] ?? "");
}
