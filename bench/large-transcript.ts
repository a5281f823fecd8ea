import { closeSync, mkdirSync, openSync, writeSync } from "node:fs";
import { join } from "node:path";
import type { HookSession } from "../test/support/hook-session.ts";

/** Writes an agent's transcript of about `megabytes`: tool results of 60 kB, a message after each. */
export function largeTranscript(session: HookSession, agentId: string, megabytes: number): void {
  mkdirSync(session.subagents, { recursive: true });
  const file = openSync(join(session.subagents, `agent-${agentId}.jsonl`), "w");
  const result = `${JSON.stringify({ type: "user", agentId, toolUseResult: "x".repeat(60_000) })}\n`;
  for (let written = 0, message = 0; written < megabytes * 1024 * 1024; message++) {
    const usage = {
      input_tokens: 3,
      cache_creation_input_tokens: 20,
      cache_read_input_tokens: 1000,
      output_tokens: 9,
    };
    const said = {
      id: `msg_${message}`,
      model: "m",
      role: "assistant",
      content: [],
      stop_reason: "tool_use",
      usage,
    };
    written += writeSync(file, result);
    written += writeSync(
      file,
      `${JSON.stringify({ type: "assistant", agentId, uuid: `u${message}`, message: said })}\n`,
    );
  }
  closeSync(file);
}
