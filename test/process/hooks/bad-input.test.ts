import { afterEach, describe, expect, it } from "vitest";
import { EVENT_TABLE } from "../../../src/hooks/event-table.ts";
import { denial, type HookResult, HookSession } from "../../support/hook-session.ts";

let session: HookSession;
afterEach(() => session.remove());

/** Everything that starts a script which is started for some inputs alone. */
const WORDS = '"agent_id" "Agent" "Task" "Skill" "Workflow" subagent-spawn <task-notification>';
const ENVELOPE = { session_id: "s1", transcript_path: "/x/s1.jsonl", cwd: "/x", agent_id: "a1" };

const MALFORMED: [string, string | Uint8Array][] = [
  ["nothing", ""],
  ["spaces and line ends", " \r\n\t\n"],
  ["text", `Balance notice, nothing here is JSON: ${WORDS}`],
  ["cut in the middle", `${JSON.stringify({ ...ENVELOPE, tool_name: "Agent" }).slice(0, -6)}`],
  ["a half of an escape", '{"agent_id": "\\u12'],
  ["null", `null\n`],
  ["a list", `[${JSON.stringify(ENVELOPE)}]`],
  ["a text in JSON", JSON.stringify(WORDS)],
  ["an empty object", "{}"],
  ["two objects", JSON.stringify(ENVELOPE).repeat(2)],
  ["a byte order mark before nothing", "\uFEFF"],
  ["UTF-16", Buffer.from("\uFEFF検査の結果", "utf16le")],
  ["bytes that are no text", Uint8Array.from({ length: 300 }, (_, index) => 255 - (index % 128))],
  ["no event name", JSON.stringify({ ...ENVELOPE, words: WORDS })],
  [
    "members of other types",
    JSON.stringify({
      ...ENVELOPE,
      hook_event_name: "PreToolUse",
      session_id: 12,
      tool_name: ["Agent"],
      tool_use_id: {},
    }),
  ],
  ["an agent that is null", JSON.stringify({ ...ENVELOPE, hook_event_name: "PreToolUse", agent_id: null })],
  ["a very deep list", `{"agent_id": ${"[".repeat(100_000)}`],
];

/** One row of the table for each script and event. */
const HANDLERS = EVENT_TABLE.map(({ event, matcher = "", script }) => {
  const tool = matcher.startsWith("^") ? "Read" : (matcher.split("|")[0] ?? "");
  return { event, tool, script };
});

function isQuiet({ exitCode, stderr, stdout, json }: HookResult): void {
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: "" });
  if (stdout !== "") expect(json).toBeTypeOf("object");
}

describe("input that no host sends (case 40)", () => {
  it.each(HANDLERS)(
    "at $event, $script: answered with one object or silence",
    async ({ event, tool, script }) => {
      session = new HookSession();
      for (const [what, input] of MALFORMED) {
        const result = await session.raw(input, event, tool);
        isQuiet(result);
        const said = JSON.stringify(result.json);
        expect(said, what).not.toContain("Balance notice");
        if (script === "pre-tool-use-agent") {
          expect(denial(result), what).toContain(
            "could not judge this call, so it is refused (spawn_on_error",
          );
          expect(result.json?.systemMessage, what).toMatch(
            /could not judge a PreToolUse event \(bad input: /,
          );
        } else {
          expect(Object.keys(result.json ?? {}), what).not.toContain("hookSpecificOutput");
          expect(Object.keys(result.json ?? {}), what).not.toContain("decision");
          expect(Object.keys(result.json ?? {}), what).not.toContain("continue");
        }
      }
    },
  );

  it("lets a spawn through where spawn_on_error is allow, and says so to the person", async () => {
    session = new HookSession(undefined, { spawn_on_error: "allow" });
    for (const [what, input] of MALFORMED) {
      const result = await session.raw(input);
      isQuiet(result);
      expect(denial(result), what).toBeNull();
      expect(Object.keys(result.json ?? {}), what).toEqual(["systemMessage"]);
    }
  });
});

describe("a spawn with members of the wrong type", () => {
  it.each<[string, Record<string, unknown>, Record<string, unknown>]>([
    ["no prompt", {}, { prompt: undefined }],
    ["a prompt that is a list", {}, { prompt: ["do it"] }],
    ["a description that is a number", {}, { description: 1 }],
    ["an agent type that is an object", {}, { subagent_type: {} }],
    ["no call id", { tool_use_id: undefined }, {}],
    ["a call id of 10,000 characters", { tool_use_id: "t".repeat(10_000) }, {}],
    ["an agent id of 10,000 characters", { agent_id: "a".repeat(10_000) }, {}],
    ["an input that is a text", { tool_input: "do it" }, {}],
  ])("is refused: %s", async (_, members, input) => {
    session = new HookSession();
    const result = await session.ask({ ...session.agentCall("t1", {}, input), ...members });
    isQuiet(result);
    expect(denial(result)).toContain("could not judge");
    expect(String(result.json?.systemMessage).length).toBeLessThan(500);
  });
});

describe("a tool call that cannot be judged", () => {
  const broken = { tool_name: "Read", tool_use_id: "r1", tool_input: "no object" };

  it.each([
    ["of a subagent, by default", {}, { agent_id: "a1" }, "Read", null],
    [
      "of a subagent with tool_on_error deny",
      { tool_on_error: "deny" },
      { agent_id: "a1" },
      "Read",
      "could not judge",
    ],
    [
      "of a subagent, a launcher, with tool_on_error deny",
      { tool_on_error: "deny" },
      { agent_id: "a1" },
      "Skill",
      "could not judge",
    ],
    ["of the main thread with tool_on_error deny", { tool_on_error: "deny" }, {}, "Read", null],
    [
      "of the main thread, a launcher, with tool_on_error deny",
      { tool_on_error: "deny" },
      {},
      "SendMessage",
      null,
    ],
    [
      "of the main thread, a workflow, with tool_on_error deny",
      { tool_on_error: "deny" },
      {},
      "Workflow",
      null,
    ],
  ])("%s", async (_, options, members, tool, words) => {
    session = new HookSession(undefined, options);
    const result = await session.ask(session.event("PreToolUse", { ...broken, ...members, tool_name: tool }));
    isQuiet(result);
    if (words === null) expect(denial(result)).toBeNull();
    else expect(denial(result)).toContain(words);
  });
});
