import { spawnSync } from "node:child_process";
import type { Command } from "./alternate.ts";

/** Instructions that a command takes in user mode, in millions; null where the machine cannot count them. */
export function instructions({ file, args, input = "", env }: Command): number | null {
  const counter = ["stat", "-x,", "-e", "instructions:u", file, ...args];
  const { status, stderr } = spawnSync("perf", counter, { input, env });
  const count = /^(\d+),[^,]*,instructions:u/m.exec(stderr?.toString() ?? "")?.[1];
  return status === 0 && count !== undefined ? Number(count) / 1e6 : null;
}
