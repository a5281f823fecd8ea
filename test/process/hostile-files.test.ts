import { mkdirSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { denial, HookSession } from "../support/hook-session.ts";

let session: HookSession;
beforeEach(() => {
  session = new HookSession();
});
afterEach(() => session.remove());

const BY = { agent_id: "a1", agent_type: "general-purpose" };
const bash = (call: string) =>
  session.event("PreToolUse", { tool_name: "Bash", tool_use_id: call, tool_input: { command: "ls" }, ...BY });

async function launch(): Promise<string> {
  await session.ask(session.agentCall("t1"));
  await session.send(session.launched("t1", "a1"));
  const trace = session.ledger().spawns[0]?.trace ?? "";
  return join(session.data, "sessions", session.sessionId, "spawns", trace);
}

describe("a running spawn whose record is lost", () => {
  it.each<[string, (folder: string) => void]>([
    [
      "overwritten",
      (folder) => {
        for (const name of readdirSync(folder)) writeFileSync(join(folder, name), "garbage");
      },
    ],
    ["removed", (folder) => rmSync(folder, { recursive: true })],
  ])("(%s) may do nothing more, and the person is told", async (_, lose) => {
    const folder = await launch();
    expect(denial(await session.ask(bash("b1")))).toBeNull();
    lose(folder);
    const result = await session.ask(bash("b2"));
    expect(denial(result)).toContain("is lost (its record was damaged or removed)");
    expect(result.json?.systemMessage).toContain("damage");
    expect(denial(await session.ask(bash("b3")))).toContain("is lost");
  });
});

it("an agent type whose file cannot be read is refused with file and line, also under another file's name", async () => {
  const folder = join(session.project, ".claude/agents");
  mkdirSync(folder, { recursive: true });
  writeFileSync(
    join(folder, "helpers.md"),
    "---\nname: reader\ndescription: Reads: only\ntools: Read\n---\nRead.\n",
  );
  const refused = denial(await session.ask(session.agentCall("t1", {}, { subagent_type: "reader" })));
  expect(refused).toMatch(/agent file that cannot be read: .*helpers\.md:3: /);
  expect(denial(await session.ask(session.agentCall("t2")))).toBeNull();
});

it("a sidecar that links to something endless is none", async () => {
  session = new HookSession(undefined, { max_concurrent_spawns: 1 });
  await launch();
  mkdirSync(session.subagents, { recursive: true });
  symlinkSync("/dev/zero", join(session.subagents, "agent-a1.meta.json"));
  expect(denial(await session.ask(session.agentCall("t2")))).toContain("at most 1 may run at once");
});

describe("a prompt with a task notification in it", () => {
  const notification = (status: string) =>
    `<task-notification>\n<task-id>a1</task-id>\n<tool-use-id>t1</tool-use-id>\n<status>${status}</status>\n</task-notification>`;

  it("that a person has pasted into theirs ends nothing", async () => {
    await launch();
    await session.send(
      session.event("UserPromptSubmit", { prompt: `see this log:\n${notification("killed")}` }),
    );
    expect(session.ledger().spawns).toMatchObject([{ phase: "running" }]);
  });

  it("that is the host's own ends its spawn", async () => {
    await launch();
    await session.send(session.event("UserPromptSubmit", { prompt: notification("killed") }));
    expect(session.ledger().spawns).toMatchObject([{ phase: "ended", outcome: "stopped" }]);
  });
});
