import { describe, expect, it } from "vitest";
import { BadInput, parseHookEvent, parseToolCall } from "../../../src/hooks/hook-event.ts";

const EVENT = {
  hook_event_name: "PreToolUse",
  session_id: "s1",
  tool_name: "Read",
  tool_use_id: "t1",
  tool_input: {},
};

function parse(input: unknown) {
  return parseHookEvent(Buffer.from(typeof input === "string" ? input : JSON.stringify(input)));
}

describe("a hook's input", () => {
  it.each([
    ["behind a byte order mark", `\uFEFF${JSON.stringify(EVENT)}`],
    ["with CRLF and spaces around it", `\r\n ${JSON.stringify(EVENT, null, 2).replaceAll("\n", "\r\n")}\r\n`],
    ["without paths", JSON.stringify(EVENT)],
    [
      "with paths of other types",
      JSON.stringify({ ...EVENT, cwd: 1, transcript_path: [], agent_type: null }),
    ],
  ])("is read %s", (_, text) => {
    expect(parse(text)).toMatchObject({
      name: "PreToolUse",
      sessionId: "s1",
      transcriptPath: "",
      cwd: "",
      agentId: null,
      agentType: null,
    });
  });

  it.each<[string, unknown, string]>([
    ["nothing", "", "standard input is empty"],
    ["spaces", " \n\t", "standard input is empty"],
    ["text", "hello", "not JSON"],
    ["cut off", JSON.stringify(EVENT).slice(0, -3), "not JSON"],
    ["two objects", JSON.stringify(EVENT).repeat(2), "not JSON"],
    ["null", "null", "not a JSON object"],
    ["a list", "[]", "not a JSON object"],
    ["a text value", '"x"', "not a JSON object"],
    ["an empty object", {}, "hook_event_name is missing or no text"],
    ["no session", { ...EVENT, session_id: undefined }, "session_id is missing or no text"],
    ["an empty session", { ...EVENT, session_id: "" }, "session_id is missing or no text"],
    ["a session that is a number", { ...EVENT, session_id: 12 }, "session_id is missing or no text"],
    [
      "a session of 201 characters",
      { ...EVENT, session_id: "s".repeat(201) },
      "session_id has 201 characters",
    ],
    ["an agent that is null", { ...EVENT, agent_id: null }, "agent_id is missing or no text"],
    ["an agent that is empty", { ...EVENT, agent_id: "" }, "agent_id is missing or no text"],
    [
      "an agent of 10,000 characters",
      { ...EVENT, agent_id: "a".repeat(10_000) },
      "agent_id has 10000 characters",
    ],
  ])("that is %s is refused by the member's name, never its content", (_, input, words) => {
    expect(() => parse(input)).toThrow(BadInput);
    expect(() => parse(input)).toThrow(words);
  });

  it("with bytes that are no UTF-8 is read with U+FFFD in their place", () => {
    const bytes = Buffer.concat([
      Buffer.from('{"hook_event_name":"PreToolUse","session_id":"s1","prompt":"'),
      Buffer.from([0xff, 0xc3, 0x28, 0xe4, 0xb8]),
      Buffer.from('"}'),
    ]);
    expect(parseHookEvent(bytes).raw.prompt).toBe("\uFFFD\uFFFD(\uFFFD");
  });
});

describe("a tool event", () => {
  it.each<[string, Record<string, unknown>, string]>([
    ["no input", { tool_input: undefined }, "tool_input"],
    ["a text for input", { tool_input: "x" }, "tool_input"],
    ["a list for input", { tool_input: [] }, "tool_input"],
    ["no tool", { tool_name: undefined }, "tool_name"],
    ["no call id", { tool_use_id: undefined }, "tool_use_id"],
    ["a list for a call id", { tool_use_id: ["x"] }, "tool_use_id"],
  ])("with %s is refused", (_, members, words) => {
    expect(() => parseToolCall(parse({ ...EVENT, ...members }))).toThrow(words);
  });
});
