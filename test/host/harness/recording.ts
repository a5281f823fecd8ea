import { readFileSync } from "node:fs";
import { join } from "node:path";
import type { HookInput } from "./recorded-plugin.ts";
import type { Run } from "./run-claude.ts";

/** One hook call of a recorded run. */
export interface RecordedCall {
  /** When the hook started, in milliseconds since 1970. */
  t: number;
  input: HookInput;
  /** The acting subagent's `agent-<id>.meta.json` at that moment; absent on the main thread. */
  sidecar?: Record<string, unknown> | null;
  /** What the hook answered, where it did. */
  answer?: Record<string, unknown>;
}

/** The hook calls of the plugin "probe", with the run's temporary folders written as /home/dev. */
export function recording(run: Run): RecordedCall[] {
  const calls = run.hookCalls
    .filter((call) => call.plugin === "probe")
    .map(({ t, input, sidecar, stdout }) => ({
      t,
      input,
      ...(input.agent_id === undefined ? {} : { sidecar }),
      ...(stdout === null ? {} : { answer: stdout }),
    }));
  const plain = JSON.stringify(calls)
    .replaceAll(/[^"]*\/recorder-\w+/g, "/home/dev/plugins")
    .replaceAll(run.home, "/home/dev")
    .replaceAll(run.home.replaceAll(/[^A-Za-z0-9]/g, "-"), "-home-dev")
    .replaceAll(/\/home\/dev\/run-\w+/g, "/tmp");
  return JSON.parse(plain) as RecordedCall[];
}

/** Reads test/recordings/<name>.ndjson. */
export function readRecording(name: string): RecordedCall[] {
  const text = readFileSync(join(import.meta.dirname, "../../recordings", `${name}.ndjson`), "utf8");
  return text
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line) as RecordedCall);
}
