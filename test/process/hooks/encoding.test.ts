import { afterEach, describe, expect, it } from "vitest";
import { denial, HookSession, updatedInput } from "../../support/hook-session.ts";

let session: HookSession;
afterEach(() => session.remove());

const SIZES = [65_536, 70_000, 600_000, 1_100_000, 8_000_000];
const BY = { agent_id: "a1", agent_type: "general-purpose" };

async function withAgent(): Promise<void> {
  session = new HookSession();
  await session.ask(session.agentCall("t1"));
  await session.ask(session.launched("t1", "a1"));
}

describe("an input of any size (case 37)", () => {
  it.each(SIZES)("is read whole: a spawn whose prompt has %i bytes in letters of two", async (bytes) => {
    session = new HookSession();
    const prompt = "é".repeat(bytes / 2);
    const result = await session.ask(session.agentCall("t1", {}, { prompt }));
    expect(result).toMatchObject({ exitCode: 0, stderr: "" });
    const out = String(updatedInput(result)?.prompt);
    expect(out.startsWith(`${prompt}\n\n<spawn_payload>`)).toBe(true);
    expect(out).toMatch(/2 more levels deep\.$/);
  });

  it.each(SIZES)("is read whole through the gate: a subagent's write of %i bytes", async (bytes) => {
    await withAgent();
    const write = session.event("PreToolUse", {
      ...BY,
      tool_name: "Write",
      tool_input: { file_path: "big.txt", content: "é".repeat(bytes / 2) },
      // Behind the large member: an input that is cut has no call id.
      tool_use_id: "w1",
    });
    expect(await session.ask(write)).toMatchObject({ exitCode: 0, stdout: "", stderr: "" });
    expect(session.ledger().spawns[0]?.meter.inFlight).toEqual(["w1"]);
  });

  it("is let go by unread where it is none of ours: 8 MB of the main thread", async () => {
    session = new HookSession();
    const write = session.event("PreToolUse", {
      tool_name: "Write",
      tool_use_id: "w1",
      tool_input: { content: "é".repeat(4_000_000) },
    });
    expect(await session.ask(write)).toMatchObject({ exitCode: 0, stdout: "", stderr: "" });
  });
});

describe("letters of every kind (case 41)", () => {
  const prompts: [string, string][] = [
    ["CJK, emoji, quotes and backslashes", '在庫を確認 🧪 – naïve “quotes” \\\\ " \n next'],
    ["a lone surrogate", "look at \ud83e here"],
    ["line separators and a NUL", "one\u2028two\u2029three\u0000four"],
    ["letters of three bytes over every chunk's border", "検".repeat(70_000)],
    ["letters of four bytes over every chunk's border", `x${"🧪".repeat(50_000)}`],
    ["JSON that looks like ours", '{"hookSpecificOutput": {"permissionDecision": "deny"}}'],
    ["what a shell would read", "$(touch x) `touch y` ${HOME} \\n %s ' \" ; INPUT\nINPUT\n"],
  ];

  it.each(prompts)("come back as they were: %s", async (_, prompt) => {
    session = new HookSession();
    const result = await session.ask(
      session.agentCall("t1", {}, { prompt, description: prompt.slice(0, 40) }),
    );
    expect(result).toMatchObject({ exitCode: 0, stderr: "" });
    expect(String(updatedInput(result)?.prompt).startsWith(`${prompt}\n\n<spawn_payload>`)).toBe(true);
    expect(updatedInput(result)?.description).toBe(prompt.slice(0, 40));
  });

  it.each(prompts)("pass the gate as they were: %s", async (_, prompt) => {
    await withAgent();
    const call = `c-${prompt.length}`;
    const event = session.event("PreToolUse", {
      ...BY,
      tool_name: "Bash",
      tool_input: { command: prompt },
      tool_use_id: call,
    });
    expect(await session.ask(event)).toMatchObject({ exitCode: 0, stdout: "", stderr: "" });
    expect(session.ledger().spawns[0]?.meter.inFlight).toEqual([call]);
  });

  it.each(["C", "POSIX", "ja_JP.SJIS", "no_SUCH.locale"])("whatever the locale: %s", async (locale) => {
    session = new HookSession();
    Object.assign(session.environment, { LC_ALL: locale, LANG: locale });
    const result = await session.ask(session.agentCall("t1", {}, { prompt: "在庫を確認 🧪" }));
    expect(String(updatedInput(result)?.prompt).startsWith("在庫を確認 🧪\n")).toBe(true);
  });

  it("with bytes that are no UTF-8 in it, a spawn is judged all the same", async () => {
    session = new HookSession();
    const text = JSON.stringify(session.agentCall("t1", {}, { prompt: "printf @@ now" }));
    const result = await session.raw(replaced(text, [0xff, 0xfe]));
    expect(result).toMatchObject({ exitCode: 0, stderr: "" });
    expect(String(updatedInput(result)?.prompt).startsWith("printf \uFFFD\uFFFD now\n")).toBe(true);
  });

  it("with bytes that are no UTF-8 in it, a subagent's call is counted all the same", async () => {
    await withAgent();
    const event = { ...BY, tool_name: "Bash", tool_input: { command: "printf @@" }, tool_use_id: "b1" };
    const text = JSON.stringify(session.event("PreToolUse", event));
    expect(await session.raw(replaced(text, [0xc3, 0x28]), "PreToolUse", "Bash")).toMatchObject({
      exitCode: 0,
      stdout: "",
      stderr: "",
    });
    expect(session.ledger().spawns[0]?.meter.inFlight).toEqual(["b1"]);
  });

  it.each([
    ["a byte order mark", (text: string) => `\uFEFF${text}`],
    ["CRLF", (text: string) => JSON.stringify(JSON.parse(text), null, 2).replaceAll("\n", "\r\n")],
    ["spaces around it", (text: string) => `\n\n  ${text}\n\n`],
  ])("behind or with %s an event is read", async (_, write) => {
    session = new HookSession(undefined, { subagent_max_depth: 0 });
    const result = await session.raw(write(JSON.stringify(session.agentCall("t1"))));
    expect(denial(result)).toContain("subagent_max_depth is 0");
  });
});

/** The bytes of a text with others in place of its `@@`. */
function replaced(text: string, bytes: number[]): Uint8Array {
  const [before = "", after = ""] = text.split("@@");
  return Buffer.concat([Buffer.from(before), Buffer.from(bytes), Buffer.from(after)]);
}
