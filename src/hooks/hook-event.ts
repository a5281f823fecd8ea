import { isJson, type Json } from "../ledger/shape.ts";

/**
 * A hook's standard input. What every event has is checked here; what only some have stays raw and is checked
 * where it is used.
 */
export type HookEvent = {
  name: string;
  sessionId: string;
  transcriptPath: string;
  cwd: string;
  /** null on the main thread */
  agentId: string | null;
  /** also missing for teammates (case 62) */
  agentType: string | null;
  raw: Json;
};

/** The input is not what the host sends; the message names the member, never its content (case 40). */
export class BadInput extends Error {}

const MAX_ID_LENGTH = 200;

export function parseHookEvent(bytes: Uint8Array): HookEvent {
  const raw = parseObject(bytes);
  return {
    name: text(raw, "hook_event_name"),
    sessionId: id(raw, "session_id"),
    transcriptPath: optionalText(raw, "transcript_path") ?? "",
    cwd: optionalText(raw, "cwd") ?? "",
    agentId: raw.agent_id === undefined ? null : id(raw, "agent_id"),
    agentType: optionalText(raw, "agent_type"),
    raw,
  };
}

/** A tool event's members: `tool_name`, `tool_use_id` and `tool_input`. */
export type ToolCall = { tool: string; call: string; input: Json };

export function parseToolCall(event: HookEvent): ToolCall {
  const input = event.raw.tool_input;
  if (!isJson(input)) throw new BadInput("tool_input is missing or no object");
  return { tool: text(event.raw, "tool_name"), call: id(event.raw, "tool_use_id"), input };
}

function parseObject(bytes: Uint8Array): Json {
  // Decoded once, as UTF-8 whatever the locale; bytes that are none become U+FFFD, NULs are dropped, as shells do
  // (run.sh), and the decision is still made.
  const source = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    .toString("utf8")
    .replaceAll("\0", "")
    .replace(/^\uFEFF/, "");
  if (source.trim() === "") throw new BadInput("standard input is empty");
  let value: unknown;
  try {
    value = JSON.parse(source);
  } catch {
    throw new BadInput("standard input is not JSON");
  }
  if (!isJson(value)) throw new BadInput("standard input is not a JSON object");
  return value;
}

function text(raw: Json, member: string): string {
  const value = raw[member];
  if (typeof value !== "string" || value === "") throw new BadInput(`${member} is missing or no text`);
  return value;
}

function id(raw: Json, member: string): string {
  const value = text(raw, member);
  if (value.length > MAX_ID_LENGTH) throw new BadInput(`${member} has ${value.length} characters`);
  return value;
}

function optionalText(raw: Json, member: string): string | null {
  const value = raw[member];
  return typeof value === "string" && value !== "" ? value : null;
}
