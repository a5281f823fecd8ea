import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** One request of the host to the model, read for a scenario. */
export interface Ask {
  /** The subagent that asks; null on the main thread. */
  agentId: string | null;
  parentAgentId: string | null;
  /** How many assistant messages this conversation already holds: 0 at the first request. */
  turn: number;
  /** The prompt that opened this conversation, without system reminders. */
  firstPrompt: string;
  /** The latest prompt in it: differs from the first after a resume or a task notification. */
  lastPrompt: string;
  /** Results of the tools that the last assistant message called. */
  lastToolResults: ToolResult[];
  /** All text that came after the last assistant message, hook contexts and reminders included. */
  lastText: string;
  tools: string[];
  system: string;
  body: RequestBody;
}

export interface ToolResult {
  toolUseId: string;
  text: string;
  isError: boolean;
}

export interface ToolCall {
  name: string;
  input: Record<string, unknown>;
  /** Unique by default. */
  id?: string;
}

export interface Usage {
  input_tokens: number;
  cache_creation_input_tokens: number;
  cache_read_input_tokens: number;
  output_tokens: number;
}

/** What the model says. An `error` goes out as that HTTP status; the host does not retry a 400. */
export interface Reply {
  text?: string;
  calls?: ToolCall[];
  usage?: Partial<Usage>;
  error?: { status: number; type: string; message: string };
}

export type Scenario = (ask: Ask) => Reply | Promise<Reply>;

/**
 * A scenario from a table: the first key that a conversation's opening prompt contains names its replies, one
 * a turn; what is not in the table is answered with "<key> done".
 */
export function script(table: Record<string, (Reply | Scenario)[]>): Scenario {
  return (ask) => {
    const key = Object.keys(table).find((words) => ask.firstPrompt.includes(words));
    const reply = key === undefined ? undefined : table[key]?.[ask.turn];
    if (typeof reply === "function") return reply(ask);
    return reply ?? { text: `${key ?? "all"} done` };
  };
}

export interface ScriptedModel {
  url: string;
  /** Every request that was part of a conversation, in order of arrival. */
  asks: Ask[];
  /** What went wrong in the scenario itself; such a request is answered with a 400. */
  errors: Error[];
  close(): Promise<void>;
}

interface Block {
  type: string;
  text?: string;
  tool_use_id?: string;
  content?: string | Block[];
  is_error?: boolean;
}

interface Message {
  role: string;
  content: string | Block[];
}

export interface RequestBody {
  model: string;
  messages: Message[];
  system?: string | Block[];
  tools?: { name: string }[];
  stream?: boolean;
  [key: string]: unknown;
}

const USAGE: Usage = {
  input_tokens: 100,
  cache_creation_input_tokens: 0,
  cache_read_input_tokens: 0,
  output_tokens: 10,
};

/** Starts a stand-in for the Messages API on a free loopback port. */
export async function startModel(scenario: Scenario): Promise<ScriptedModel> {
  const asks: Ask[] = [];
  const errors: Error[] = [];
  const ids = counter();

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const raw = await text(request);
    const path = (request.url ?? "").split("?")[0];
    if (request.method !== "POST" || path !== "/v1/messages") {
      return json(response, 200, path?.endsWith("/count_tokens") ? { input_tokens: 100 } : {});
    }
    const body = JSON.parse(raw) as RequestBody;
    // Titles and the like: requests of the host that carry no tools are no conversation.
    if ((body.tools ?? []).length === 0) return send(response, body, { text: '{"title":"session"}' }, ids);
    const ask = readAsk(request, body);
    asks.push(ask);
    try {
      await send(response, body, await scenario(ask), ids);
    } catch (error) {
      errors.push(error instanceof Error ? error : new Error(String(error)));
      const message = `the scenario threw: ${String(error)}`;
      json(response, 400, { type: "error", error: { type: "invalid_request_error", message } });
    }
  }

  const server = createServer((request, response) => {
    answer(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asks,
    errors,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

function readAsk(request: IncomingMessage, body: RequestBody): Ask {
  const lastAssistant = body.messages.findLastIndex((message) => message.role === "assistant");
  const last = body.messages.slice(lastAssistant + 1).flatMap((message) => blocks(message.content));
  const prompts = body.messages
    .filter((message) => message.role === "user")
    .map((message) => spoken(message.content))
    .filter((said) => said !== "");
  return {
    agentId: header(request, "x-claude-code-agent-id"),
    parentAgentId: header(request, "x-claude-code-parent-agent-id"),
    turn: body.messages.filter((message) => message.role === "assistant").length,
    firstPrompt: prompts[0] ?? "",
    lastPrompt: prompts.at(-1) ?? "",
    lastToolResults: last
      .filter((block) => block.type === "tool_result")
      .map((block) => ({
        toolUseId: block.tool_use_id ?? "",
        text: flat(block.content ?? ""),
        isError: block.is_error === true,
      })),
    lastText: last.flatMap((block) => (block.type === "text" ? [block.text ?? ""] : [])).join("\n"),
    tools: (body.tools ?? []).map((tool) => tool.name),
    system: flat(body.system ?? ""),
    body,
  };
}

function header(request: IncomingMessage, name: string): string | null {
  const value = request.headers[name];
  return typeof value === "string" ? value : null;
}

function blocks(content: string | Block[]): Block[] {
  return typeof content === "string" ? [{ type: "text", text: content }] : content;
}

function flat(content: string | Block[]): string {
  return blocks(content)
    .map((block) => block.text ?? "")
    .join("\n");
}

function spoken(content: string | Block[]): string {
  return flat(content)
    .replace(/<system-reminder>[\s\S]*?<\/system-reminder>/g, "")
    .trim();
}

async function text(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString("utf8");
}

function json(response: ServerResponse, status: number, value: unknown): void {
  response.writeHead(status, { "content-type": "application/json" });
  response.end(JSON.stringify(value));
}

function counter(): (kind: string) => string {
  const run = Math.random().toString(36).slice(2, 8);
  let count = 0;
  return (kind) => {
    count += 1;
    return `${kind}_${run}${String(count).padStart(5, "0")}`;
  };
}

function send(
  response: ServerResponse,
  body: RequestBody,
  reply: Reply,
  ids: (kind: string) => string,
): void {
  if (reply.error !== undefined) {
    const { status, type, message } = reply.error;
    json(response, status, { type: "error", error: { type, message } });
    return;
  }
  const calls = (reply.calls ?? []).map((call) => ({ ...call, id: call.id ?? ids("toolu") }));
  const said = reply.text ?? (calls.length === 0 ? "done" : undefined);
  const usage = { ...USAGE, ...reply.usage };
  const stopReason = calls.length > 0 ? "tool_use" : "end_turn";
  const message = { id: ids("msg"), type: "message", role: "assistant", model: body.model };
  const ended = { stop_reason: stopReason, stop_sequence: null };
  const textBlocks = said === undefined ? [] : [{ type: "text", text: said }];
  const toolBlocks = calls.map(({ id, name, input }) => ({ type: "tool_use", id, name, input }));
  if (body.stream !== true) {
    json(response, 200, { ...message, content: [...textBlocks, ...toolBlocks], ...ended, usage });
    return;
  }

  response.writeHead(200, { "content-type": "text/event-stream" });
  const event = (type: string, data: object) =>
    response.write(`event: ${type}\ndata: ${JSON.stringify({ type, ...data })}\n\n`);
  event("message_start", {
    message: {
      ...message,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      usage: { ...usage, output_tokens: 1 },
    },
  });
  for (const [index, block] of [...textBlocks, ...toolBlocks].entries()) {
    const isText = block.type === "text";
    const start = isText ? { type: "text", text: "" } : { ...block, input: {} };
    const delta = isText
      ? { type: "text_delta", text: "text" in block ? block.text : "" }
      : { type: "input_json_delta", partial_json: JSON.stringify("input" in block ? block.input : {}) };
    event("content_block_start", { index, content_block: start });
    event("content_block_delta", { index, delta });
    event("content_block_stop", { index });
  }
  event("message_delta", { delta: ended, usage });
  event("message_stop", {});
  response.end();
}
