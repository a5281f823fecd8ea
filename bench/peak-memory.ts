import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** Runs a Node script with `input` and gives its peak resident memory in MB. */
export function peakMemory(args: readonly string[], input: string, env: Record<string, string>): number {
  const folder = mkdtempSync(join(tmpdir(), "peak-"));
  const preload = join(folder, "peak.cjs");
  writeFileSync(
    preload,
    'process.on("exit", () => require("node:fs").writeSync(2, `peak ${process.resourceUsage().maxRSS}`));',
  );
  try {
    const { stderr } = spawnSync(process.execPath, ["--require", preload, ...args], { input, env });
    return Number(/peak (\d+)/.exec(stderr.toString())?.[1]) / 1024;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
