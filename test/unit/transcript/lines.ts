import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "vitest";
import { readTranscript } from "../../../src/transcript/read-transcript.ts";
import { newTranscriptState, type TranscriptState } from "../../../src/transcript/transcript-state.ts";
import { type Usage, type UsageTotals, usageTotals } from "../../../src/transcript/usage.ts";

export type LineOptions = {
  usage?: Partial<Usage>;
  text?: string;
  tool?: string;
  stop?: string | null;
  model?: string;
  agentId?: string | null;
  uuid?: string;
};

export const AGENT = "a5c1e0";

/** A line as Claude Code 2.1.332 writes it for a content block of a message: `message` first, `type` late. */
export function messageLine(id: string | null, options: LineOptions = {}): string {
  const { text = "words", tool, stop = "end_turn", model = "claude-opus-5-5", uuid = `u-${id}` } = options;
  const block =
    tool === undefined
      ? { type: "text", text }
      : { type: "tool_use", id: tool, name: "Read", input: { file_path: text, id: "not-a-tool" } };
  return JSON.stringify({
    parentUuid: null,
    isSidechain: true,
    ...(options.agentId === null ? {} : { agentId: options.agentId ?? AGENT }),
    message: {
      ...(id === null ? {} : { id }),
      type: "message",
      role: "assistant",
      model,
      content: [block],
      stop_reason: stop,
      usage: { ...usageMembers(options.usage), iterations: [{ input_tokens: 777, output_tokens: 777 }] },
    },
    requestRef: "r",
    type: "assistant",
    uuid,
    version: "2.1.332",
  });
}

export function usageMembers(usage: Partial<Usage> = {}) {
  return {
    input_tokens: usage.input ?? 3,
    cache_creation_input_tokens: usage.cacheCreation ?? 0,
    cache_read_input_tokens: usage.cacheRead ?? 0,
    output_tokens: usage.output ?? 1,
  };
}

/** A line of another type that quotes an assistant line. */
export function userLine(text = messageLine("msg_quoted")): string {
  const message = { role: "user", content: [{ type: "tool_result", tool_use_id: "toolu_0", content: text }] };
  return JSON.stringify({ parentUuid: "p", agentId: AGENT, type: "user", message, toolUseResult: text });
}

const root = mkdtempSync(join(realpathSync(tmpdir()), "transcript-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** A new folder, gone after the tests. */
export function folder(): string {
  return mkdtempSync(join(root, "t-"));
}

export function joined(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

/** The state after reading `text` as one new file of the agent's. */
export function readAll(text: string | Buffer, promptTokens = 0): TranscriptState {
  const file = join(folder(), `agent-${AGENT}.jsonl`);
  writeFileSync(file, text);
  return readTranscript(file, newTranscriptState(promptTokens));
}

export function ended(state: TranscriptState): UsageTotals {
  return usageTotals(state.meter, true);
}
