import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { rootSession } from "../../../src/acs/session-id.ts";
import { EVENT_TABLE } from "../../../src/hooks/event-table.ts";
import { DEADLINE_MS, HookContext } from "../../../src/hooks/hook-context.ts";
import { parseHookEvent } from "../../../src/hooks/hook-event.ts";
import { hook as toolHook } from "../../../src/hooks/pre-tool-use.ts";
import { hook as agentHook } from "../../../src/hooks/pre-tool-use-agent.ts";
import { LedgerBusy } from "../../../src/ledger/cell.ts";
import { HookSession } from "../../support/hook-session.ts";

/** Folders in which somebody else is always first. */
const { busy } = vi.hoisted(() => ({ busy: new Set<string>() }));
vi.mock("../../../src/ledger/files.ts", async (original) => {
  const files = await original<typeof import("../../../src/ledger/files.ts")>();
  return {
    ...files,
    linkNew: (folder: string, name: string, text: string) =>
      [...busy].some((part) => folder.includes(part)) ? false : files.linkNew(folder, name, text),
  };
});

let session: HookSession;
beforeEach(() => {
  session = new HookSession();
});
afterEach(() => {
  busy.clear();
  session.remove();
});

/** An event that came so long ago that the deadline of its hook has passed. */
function late(input: Record<string, unknown>) {
  const event = parseHookEvent(Buffer.from(JSON.stringify(input)));
  const context = new HookContext(session.environment, Date.now() - DEADLINE_MS - 1000);
  context.open(event);
  return { event, context };
}

function receipts(): { step_type: string; result: Record<string, unknown> }[] {
  const folder = join(session.data, "audit", session.sessionId, rootSession(session.sessionId));
  return readdirSync(folder)
    .filter((name) => name.endsWith(".jsonl"))
    .flatMap((name) => readFileSync(join(folder, name), "utf8").trim().split("\n"))
    .map((line) => JSON.parse(line))
    .map(({ entry, response }) => ({ step_type: entry.step_type, result: response.result }));
}

describe("a hook whose deadline passes while others commit (case 34)", () => {
  it.each([
    ["refuses a spawn", "deny", { deny: expect.stringContaining("could not judge this call") }],
    ["lets a spawn through where spawn_on_error is allow", "allow", {}],
  ])("%s, and that is recorded", async (_, mode, answer) => {
    session.environment.CLAUDE_PLUGIN_OPTION_SPAWN_ON_ERROR = mode;
    busy.add("/sessions/");
    const { event, context } = late(session.agentCall("t1"));
    await expect(Promise.resolve().then(() => agentHook.handle(event, context))).rejects.toThrow(LedgerBusy);
    expect(await agentHook.onError(context, event)).toEqual(answer);
    const [call] = receipts().filter(({ step_type }) => step_type === "steps/toolCallRequest");
    expect(call?.result).toMatchObject({ decision: mode, reason_codes: ["guard_error"] });
  });

  it("still answers where not even that can be recorded", async () => {
    busy.add("/sessions/").add("/audit/");
    const { event, context } = late(session.agentCall("t1"));
    expect(await agentHook.onError(context, event)).toMatchObject({ deny: expect.any(String) });
  });

  it("follows tool_on_error for a subagent's call of another tool", async () => {
    busy.add("/sessions/");
    session.environment.CLAUDE_PLUGIN_OPTION_TOOL_ON_ERROR = "deny";
    const call = { tool_name: "Read", tool_use_id: "r1", tool_input: {}, agent_id: "a1" };
    const { event, context } = late(session.event("PreToolUse", call));
    await expect(Promise.resolve().then(() => toolHook.handle(event, context))).rejects.toThrow(LedgerBusy);
    expect(await toolHook.onError(context, event)).toMatchObject({ deny: expect.any(String) });
  });

  it("has half of the time that is declared to the host, or less", () => {
    for (const { event, timeout } of EVENT_TABLE) {
      if (event === "SessionEnd") continue;
      expect(timeout * 1000, event).toBeGreaterThanOrEqual(2 * DEADLINE_MS);
    }
  });
});
