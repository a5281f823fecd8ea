import { spawn } from "node:child_process";
import { randomUUID } from "node:crypto";
import { join } from "node:path";
import { HookSession } from "../test/support/hook-session.ts";
import { quantile } from "./alternate.ts";
import { STORM } from "./rows.ts";

/** Milliseconds of one decision, decisions a second of all, and how many were not answered by the guard in time. */
export type StormCost = { p50: number; p95: number; p99: number; perSecond: number; late: number };

/** Sessions that all make spawn decisions at once, each one after another. */
export async function storm(plugin: string, env: Record<string, string>): Promise<StormCost> {
  const sessions = Array.from({ length: STORM.sessions }, () => new HookSession(randomUUID()));
  const times: number[] = [];
  let late = 0;
  let left = STORM.decisions;
  const started = performance.now();
  await Promise.all(
    sessions.map(async (session) => {
      while (left-- > 0) {
        const began = performance.now();
        const answer = await decide(
          plugin,
          { ...session.environment, ...env },
          session.agentCall(randomUUID()),
        );
        times.push(performance.now() - began);
        if (!answer.includes("updatedInput")) late += 1;
      }
    }),
  );
  const seconds = (performance.now() - started) / 1000;
  for (const session of sessions) session.remove();
  const [p50 = 0, p95 = 0, p99 = 0] = [0.5, 0.95, 0.99].map((part) => quantile(times, part));
  return { p50, p95, p99, perSecond: STORM.decisions / seconds, late };
}

function decide(plugin: string, env: Record<string, string>, event: object): Promise<string> {
  const child = spawn("sh", [join(plugin, "hooks/run.sh"), "pre-tool-use-agent.cjs"], { env });
  let answer = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    answer += text;
  });
  child.stdin.end(JSON.stringify(event));
  return new Promise((done, failed) => {
    child.on("error", failed);
    child.on("close", () => done(answer));
  });
}
