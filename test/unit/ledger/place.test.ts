import { existsSync, readdirSync, statSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "vitest";
import { decidedSessions } from "./decided-session.ts";

const newSession = decidedSessions();

/** Every path below a folder. */
function everything(folder: string): string[] {
  return readdirSync(folder, { recursive: true, encoding: "utf8" }).map((name) => join(folder, name));
}

describe("where the ledger writes", () => {
  const HOSTILE = [
    "../../outside",
    "/tmp/outside",
    "..",
    ".",
    "a/../../b",
    "a\0b",
    "a\nb",
    "C:\\x",
    "~",
    "%2e%2e",
  ];

  it.each(HOSTILE)("an id like %j leaves its folder neither as session, agent nor call", async (id) => {
    const at = newSession();
    const folders = new Set(readdirSync(dirname(at.root)));
    for (const event of [
      at.agentCall(id),
      at.launched(id, id),
      at.toolCall(id, { tool_use_id: id }),
      at.agentEvent("SubagentStart", id),
      { ...at.agentCall("c1"), session_id: id },
      at.agentEvent("SubagentStop", id),
    ]) {
      await at.decide(event);
    }
    expect(readdirSync(at.root)).toEqual(["data"]);
    expect(readdirSync(at.data).sort()).toEqual(["audit", "sessions"]);
    expect(readdirSync(join(at.data, "sessions"))).toHaveLength(2);
    const added = readdirSync(dirname(at.root)).filter((name) => !folders.has(name));
    expect(added.filter((name) => name.includes("outside"))).toEqual([]);
    expect(existsSync(join(at.root, "..", "outside"))).toBe(false);
  });

  it("is for the user alone: folders 0700, files 0600", async () => {
    const at = newSession();
    await at.running("c1", "a1");
    await at.decide(at.agentEvent("SubagentStop", "a1"));
    const modes = everything(at.data).map((path) => {
      const { mode } = statSync(path);
      return `${statSync(path).isDirectory() ? "folder" : "file"} ${(mode & 0o777).toString(8)}`;
    });
    expect(new Set(modes)).toEqual(new Set(["folder 700", "file 600"]));
  });

  it("holds no temporary file when a hook is done", async () => {
    const at = newSession();
    await at.running("c1", "a1");
    await at.decide(at.agentEvent("SubagentStop", "a1"));
    expect(everything(at.data).filter((path) => path.includes("tmp-"))).toEqual([]);
  });
});
