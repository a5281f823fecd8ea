import { execFileSync } from "node:child_process";
import {
  appendFileSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { readTranscript } from "../../../src/transcript/read-transcript.ts";
import {
  decodeTranscriptState,
  newTranscriptState,
  type TranscriptState,
} from "../../../src/transcript/transcript-state.ts";
import { AGENT, ended, folder, joined, messageLine, readAll, usageMembers, userLine } from "./lines.ts";

const THREE = [
  userLine(),
  messageLine("msg_1", { usage: { input: 10, cacheCreation: 990, output: 50 }, tool: "toolu_1" }),
  userLine(),
  messageLine("msg_2", {
    usage: { input: 5, cacheCreation: 245, cacheRead: 1000, output: 10 },
    tool: "toolu_2",
  }),
  userLine(),
  messageLine("msg_3", { usage: { input: 5, cacheCreation: 35, cacheRead: 1250, output: 7 } }),
];
const THREE_USED = { messages: 3, input: 20 + 200 + 30, output: 67, toolUses: 2, tokens: 317 };

function aFile(lines: readonly string[] = []): string {
  const file = join(folder(), `agent-${AGENT}.jsonl`);
  writeFileSync(file, joined(lines));
  return file;
}

/** As the ledger would keep it. */
function stored(state: TranscriptState): TranscriptState {
  const back = decodeTranscriptState(JSON.parse(JSON.stringify(state)));
  expect(back).toEqual(state);
  return back ?? newTranscriptState(0);
}

describe("a transcript", () => {
  it("gives context growth, output, messages and tool calls", () => {
    expect(ended(readAll(joined(THREE), 20))).toEqual(THREE_USED);
  });

  it("is read on from where the last reading ended", () => {
    const file = aFile();
    let state = newTranscriptState(20);
    for (const line of THREE) {
      appendFileSync(file, `${line}\n`);
      state = stored(readTranscript(file, state));
    }
    expect(ended(state)).toEqual(THREE_USED);
  });

  it("without anything new gives the very same state", () => {
    const file = aFile(THREE);
    const state = readTranscript(file, newTranscriptState(20));
    expect(readTranscript(file, state)).toBe(state);
  });

  it("leaves the state that was handed in as it was", () => {
    const file = aFile(THREE.slice(0, 3));
    appendFileSync(file, THREE[3]?.slice(0, 300) ?? "");
    const state = readTranscript(file, newTranscriptState(20));
    const before = JSON.stringify(state);
    appendFileSync(file, `${THREE[3]?.slice(300)}\n`);
    expect(ended(readTranscript(file, state)).messages).toBe(2);
    expect(JSON.stringify(state)).toBe(before);
  });

  it("tells the tool calls it saw", () => {
    const seen: string[] = [];
    readTranscript(aFile(THREE), newTranscriptState(0), (id) => seen.push(id));
    expect(seen).toEqual(["toolu_1", "toolu_2"]);
  });
});

describe("an assistant line", () => {
  const members = {
    type: "assistant",
    uuid: "u-1",
    agentId: AGENT,
    message: {
      id: "msg_1",
      role: "assistant",
      content: [
        { type: "tool_use", id: "toolu_1", input: { usage: { output_tokens: 9999 }, a: [[{}], "]}"] } },
      ],
      usage: usageMembers({ output: 40 }),
    },
  };
  const reversed = Object.fromEntries(
    Object.entries({
      ...members,
      message: Object.fromEntries(Object.entries(members.message).reverse()),
    }).reverse(),
  );
  const spaced = JSON.stringify(members, null, 1).replaceAll("\n", "\t \r");

  it.each([
    ["in the host's order of members", messageLine("msg_1", { usage: { output: 40 }, tool: "toolu_1" })],
    ["with its type first", JSON.stringify(members)],
    ["with its type last and usage before content", JSON.stringify(reversed)],
    ["with blanks everywhere", spaced],
    ["with an id in escapes", JSON.stringify(members).replace('"msg_1"', '"\\u006dsg_1"')],
    [
      "without an agent's id",
      messageLine("msg_1", { usage: { output: 40 }, tool: "toolu_1", agentId: null }),
    ],
    ["with a request id that is empty", JSON.stringify({ requestId: "", ...members })],
    ["of a message without an id", messageLine(null, { usage: { output: 40 }, tool: "toolu_1" })],
    [
      "full of quotes and backslashes",
      messageLine("msg_1", {
        usage: { output: 40 },
        tool: "toolu_1",
        text: '\\"\\\\"'.repeat(5000),
      }),
    ],
    ["behind the zero bytes that a crash can leave", `\0\0\0${JSON.stringify(members)}`],
    ["with members called __proto__", `{"__proto__":{"type":"user"},${JSON.stringify(members).slice(1)}`],
  ])("%s counts", (_, line) => {
    expect(ended(readAll(joined([line, line])))).toMatchObject({ messages: 1, output: 40, toolUses: 1 });
    expect(ended(readAll(line))).toMatchObject({ messages: 1, output: 40, toolUses: 1 });
  });

  it.each([
    ["is the host's own message", messageLine("msg_9", { model: "<synthetic>" })],
    ["reports an API error", JSON.stringify({ ...members, isApiErrorMessage: true })],
    ["is another agent's", messageLine("msg_9", { agentId: "else" })],
    ["has neither id nor uuid", JSON.stringify({ type: "assistant", message: { usage: usageMembers() } })],
    ["stands in another line's text", userLine()],
    [
      "is part of a progress line",
      JSON.stringify({ type: "progress", data: members, message: members.message }),
    ],
    ["is not closed", JSON.stringify(members).slice(0, -1)],
    ["has something behind it", `${JSON.stringify(members)}{}`],
    ["is in an array", JSON.stringify([members])],
    ["closes what it did not open", JSON.stringify(members).replace('],"usage"', '},"usage"')],
    ["is no JSON", `null ${JSON.stringify(members)}`],
  ])("counts nothing where it %s, and hides no other", (_, line) => {
    const totals = ended(readAll(joined([line, messageLine("msg_8", { usage: { output: 5 } }), line, ""])));
    expect(totals).toMatchObject({ messages: 1, output: 5, toolUses: 0 });
  });

  it.each(["-5", "1.5", "1e400", '"40"', "null", "[40]", "nan", "0x28", "9007199254740993"])(
    "whose usage is %s counts as none",
    (value) => {
      const line = JSON.stringify(members).replace('"output_tokens":40', `"output_tokens":${value}`);
      expect(ended(readAll(joined([line])))).toMatchObject({ messages: 1, output: 0 });
    },
  );

  it.each([null, 7, [], "x"])("whose usage is all of %j is a turn without tokens", (usage) => {
    const line = JSON.stringify({ ...members, message: { ...members.message, usage } });
    expect(ended(readAll(joined([line])))).toMatchObject({ messages: 1, output: 0, toolUses: 1 });
  });

  it.each([
    [
      "the usage after the content",
      messageLine("msg_1", { usage: { output: 40 }, text: 'é\\"'.repeat(800_000) }),
    ],
    [
      "the usage before the content",
      JSON.stringify({
        ...reversed,
        message: {
          usage: usageMembers({ output: 40 }),
          content: [{ type: "text", text: "x".repeat(3_000_000) }],
          id: "m",
        },
      }),
    ],
  ])("of megabytes with %s counts in pieces", (_, line) => {
    expect(ended(readAll(joined([line, messageLine("msg_2")])))).toMatchObject({ messages: 2, output: 41 });
    const file = aFile();
    let state = newTranscriptState(0);
    for (let at = 0; at < line.length; at += 250_001) {
      appendFileSync(file, line.slice(at, at + 250_001));
      state = stored(readTranscript(file, state));
      expect(JSON.stringify(state).length).toBeLessThan(2000);
    }
    expect(ended(state)).toMatchObject({ messages: 1, output: 40 });
  });
});

describe("a fork's file", () => {
  const fork = JSON.stringify({
    type: "fork-context-ref",
    agentId: AGENT,
    parentSessionId: "s",
    contextLength: 13,
  });
  const own = messageLine("msg_2", { usage: { input: 9300, output: 8 }, tool: "toolu_b" });
  const inherited = messageLine("msg_1", { usage: { input: 9000, output: 300 }, tool: "toolu_a" });

  it("begins with its parent's message, which is not its own", () => {
    const totals = ended(readAll(joined([fork, inherited, inherited, userLine(), own]), 12));
    expect(totals).toEqual({ messages: 1, input: 12, output: 8, toolUses: 1, tokens: 20 });
  });

  it("is known as one when it is read in pieces", () => {
    const file = aFile();
    let state = newTranscriptState(12);
    for (const piece of [fork, "\n", inherited, "\n", userLine(), "\n", own, "\n"]) {
      appendFileSync(file, piece);
      state = stored(readTranscript(file, state));
    }
    expect(ended(state).messages).toBe(1);
  });
});

describe("a file that changes under the reader", () => {
  const fourth = messageLine("msg_4", { usage: { input: 1397, output: 3 } });
  const more = { ...THREE_USED, messages: 4, input: 350, output: 70, tokens: 420 };

  it.each<[string, (file: string) => void]>([
    ["written again with the same text", (file) => writeFileSync(file, readFileSync(file))],
    [
      "replaced by a copy",
      (file) => {
        copyFileSync(file, `${file}.new`);
        renameSync(`${file}.new`, file);
      },
    ],
    ["cut and written again", (file) => writeFileSync(file, joined(THREE.slice(3)))],
    ["emptied", (file) => truncateSync(file, 0)],
    [
      "replaced by a longer one that has all of it",
      (file) => writeFileSync(file, joined([userLine(), ...THREE])),
    ],
  ])("%s counts what it had once, and what follows too", (_, change) => {
    const file = aFile(THREE);
    const state = stored(readTranscript(file, newTranscriptState(20)));
    change(file);
    const changed = stored(readTranscript(file, state));
    expect(ended(changed)).toEqual(THREE_USED);
    appendFileSync(file, `${fourth}\n`);
    expect(ended(readTranscript(file, changed))).toEqual(more);
  });

  it("written again in place, and longer, shows what is new at its start", () => {
    const file = aFile(THREE);
    const state = readTranscript(file, newTranscriptState(20));
    writeFileSync(file, joined([fourth, ...THREE]));
    expect(ended(readTranscript(file, state))).toEqual(more);
  });

  it("replaced by one of its size and with its end shows what is new at its start", () => {
    const end = userLine("same end ".repeat(500));
    const file = aFile([messageLine("msg_1"), end]);
    const state = readTranscript(file, newTranscriptState(0));
    writeFileSync(`${file}.new`, joined([messageLine("msg_2"), end]));
    renameSync(`${file}.new`, file);
    expect(ended(readTranscript(file, state)).messages).toBe(2);
  });

  it("and is missing leaves the state", () => {
    const state = readTranscript(aFile(THREE), newTranscriptState(20));
    expect(readTranscript(join(folder(), "none", "agent-x.jsonl"), state)).toBe(state);
  });
});

describe.skipIf(process.platform === "win32")("what is no regular file", () => {
  it.each<[string, (path: string) => void]>([
    ["a pipe", (path) => execFileSync("mkfifo", [path])],
    ["a folder", (path) => mkdirSync(path)],
    ["a link to a device", (path) => symlinkSync("/dev/zero", path)],
    ["a link to a file", (path) => symlinkSync(aFile(THREE), path)],
    ["under a file", (path) => writeFileSync(join(path, ".."), "")],
  ])("is not read: %s", (kind, make) => {
    const root = folder();
    const file = join(kind === "under a file" ? join(root, "file") : root, `agent-${AGENT}.jsonl`);
    make(file);
    const state = newTranscriptState(1);
    expect(readTranscript(file, state)).toBe(state);
  });
});

describe("a stored state", () => {
  const half = readAll(joined(THREE) + messageLine("msg_4").slice(0, 200), 20);

  it("reads back with a half-written line in it", () => {
    expect(half.line).not.toBeNull();
    expect(stored(half)).toEqual(half);
  });

  it.each(["", null, 7, [], {}, "{}"])("is not %j", (raw) => {
    expect(decodeTranscriptState(raw)).toBeNull();
  });

  it("is not one with any member missing or of another kind", () => {
    const damaged = (value: unknown): unknown[] => {
      if (typeof value !== "object" || value === null) return [{}, undefined, -1, 1.5];
      if (Array.isArray(value))
        return [{}, null, ...value.slice(0, 1).flatMap((one) => damaged(one).map((bad) => [bad]))];
      return Object.entries(value).flatMap(([name, member]) =>
        damaged(member).map((bad) => ({ ...value, [name]: bad })),
      );
    };
    const all = damaged(half);
    expect(all.length).toBeGreaterThan(100);
    for (const raw of all) expect(decodeTranscriptState(raw), JSON.stringify(raw)).toBeNull();
  });
});
