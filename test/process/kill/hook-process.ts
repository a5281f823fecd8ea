import { type ChildProcess, spawn } from "node:child_process";
import { resolve } from "node:path";
import { EVENT_TABLE } from "../../../src/hooks/event-table.ts";
import type { HookSession } from "../../support/hook-session.ts";

/** What run.sh starts; a script of its own does nothing when it is run. */
const START = resolve("plugin/hooks/start.cjs");

type Json = Record<string, unknown>;

/** How a hook process ended: what it said, or null when it was killed. */
export type Outcome = { killed: boolean; answer: Json | null; milliseconds: number };

/** Runs the built script of an event, and kills it after `killAfter` milliseconds, if it still runs. */
export function hookProcess(session: HookSession, event: Json, killAfter: number | null): Promise<Outcome> {
  const script = `${scriptOf(event)}.cjs`;
  const started = performance.now();
  const child = spawn(process.execPath, [START, script], { env: session.environment, cwd: session.project });
  let text = "";
  child.stdout.setEncoding("utf8").on("data", (more: string) => {
    text += more;
  });
  // One that is killed does not read its input to the end.
  child.stdin.on("error", () => {});
  child.stdin.end(JSON.stringify(event));
  const timer = killAfter === null ? null : setTimeout(() => child.kill("SIGKILL"), killAfter);
  return closed(child).then(({ exitCode, signal }) => {
    if (timer !== null) clearTimeout(timer);
    const killed = signal === "SIGKILL";
    if (!killed && exitCode !== 0) throw new Error(`${script} ended with ${exitCode}`);
    return {
      killed,
      answer: killed || text === "" ? null : JSON.parse(text),
      milliseconds: performance.now() - started,
    };
  });
}

function closed(child: ChildProcess): Promise<{ exitCode: number | null; signal: NodeJS.Signals | null }> {
  return new Promise((done, failed) => {
    child.on("error", failed);
    child.on("close", (exitCode, signal) => done({ exitCode, signal }));
  });
}

function scriptOf({ hook_event_name: name, tool_name: tool }: Json): string {
  const row = EVENT_TABLE.find(
    ({ event, matcher }) =>
      event === name &&
      (matcher === undefined ||
        (/^[\w|]+$/.test(matcher)
          ? matcher.split("|").includes(String(tool))
          : new RegExp(matcher).test(String(tool)))),
  );
  if (row === undefined) throw new Error(`no script takes ${name} of ${tool}`);
  return row.script;
}
