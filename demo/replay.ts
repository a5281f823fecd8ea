import { execFileSync } from "node:child_process";
import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { denial, HookSession, updatedInput } from "../test/support/hook-session.ts";
import { sessionTree } from "./session-tree.ts";

type Line = { input: Record<string, unknown>; sidecar: Record<string, unknown> | null };

/** A session recorded in the real Claude Code; demo/in-host.ts --record makes it. */
export const RECORDING = resolve("demo/session.ndjson");

/**
 * Builds a payload, then feeds the recorded session to the hook scripts of `plugin`, as processes, and prints
 * what each decided. Answers whether the fourth nested spawn was refused and nothing else.
 */
export async function replay(plugin: string, print: (text: string) => void): Promise<boolean> {
  print("1. /subagent-spawn builds a payload (spawn-guard build):\n");
  const task = "implement OAuth2 login form per src/auth/spec.md";
  const cli = join(plugin, "cli/spawn-guard.cjs");
  const built = execFileSync(process.execPath, [cli, "build", "--role", "frontend-engineer", "--task", task]);
  const { spawn_payload: payload, validation } = JSON.parse(built.toString());
  print(`${JSON.stringify(payload, null, 2)}\nvalidation: ${validation}`);

  print("\n2. A recorded session of Claude Code, fed to the hooks. Each agent hands its job on:\n");
  const lines: Line[] = readFileSync(RECORDING, "utf8")
    .trimEnd()
    .split("\n")
    .map((line) => JSON.parse(line));
  const sessionId = String(lines[0]?.input.session_id);
  const session = new HookSession(sessionId, {}, plugin);
  const refusals: number[] = [];
  let calls = 0;
  try {
    for (const { input, sidecar } of lines) {
      if (sidecar !== null && typeof input.agent_id === "string") {
        mkdirSync(session.subagents, { recursive: true });
        writeFileSync(join(session.subagents, `agent-${input.agent_id}.meta.json`), JSON.stringify(sidecar));
      }
      const place = session.event(String(input.hook_event_name));
      const results = await session.send({
        ...input,
        transcript_path: place.transcript_path,
        cwd: place.cwd,
      });
      if (input.hook_event_name !== "PreToolUse" || input.tool_name !== "Agent") continue;
      calls += 1;
      const [result] = results;
      const reason = result === undefined ? null : denial(result);
      if (reason !== null) refusals.push(calls);
      const standing = /\[spawn-guard\] (.*)$/m.exec(String(result && updatedInput(result)?.prompt))?.[1];
      print(`Agent call ${calls}: ${reason === null ? `admitted. ${standing}` : `REFUSED. ${reason}`}`);
    }
    print("\n3. What the ledger says now:\n");
    const { session: state, spawns } = session.ledger();
    print(sessionTree(state, spawns));

    print("\n4. What the audit chain says (spawn-guard audit verify, then show):\n");
    const place = ["--data", session.data, "--session", sessionId];
    for (const action of ["verify", "show"]) {
      print(
        execFileSync(process.execPath, [cli, "audit", action, ...place])
          .toString()
          .trimEnd(),
      );
    }
  } finally {
    session.remove();
  }
  return refusals.length === 1 && refusals[0] === 4;
}
