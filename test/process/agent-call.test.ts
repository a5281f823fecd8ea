import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { attachedPayload, denial, HookSession, updatedInput } from "../support/hook-session.ts";

let session: HookSession;
afterEach(() => session.remove());

describe("an Agent call of the main thread", () => {
  it("is let through in silence but for the payload in its prompt", async () => {
    session = new HookSession();
    const result = await session.ask(
      session.agentCall("t1", {}, { model: "haiku", run_in_background: true }),
    );
    expect(result).toMatchObject({ exitCode: 0, stderr: "" });
    expect(Object.keys(result.json ?? {})).toEqual(["hookSpecificOutput"]);
    expect(result.json?.hookSpecificOutput).not.toHaveProperty("permissionDecision");
    expect(updatedInput(result)).toMatchObject({
      model: "haiku",
      run_in_background: true,
      subagent_type: "general-purpose",
    });
    expect(attachedPayload(result)).toMatchObject({
      parent_trace_id: null,
      subagent_role: "general-purpose",
      goal: "a part of it",
    });
    expect(updatedInput(result)?.prompt).toMatch(
      /at depth 1 of at most 3\. You may spawn subagents, 2 more levels deep\.$/,
    );
  });

  it("gets the same answer when the same event comes twice, and counts once", async () => {
    session = new HookSession();
    const event = session.agentCall("t1");
    const both = await Promise.all([session.ask(event), session.ask(event)]);
    const again = await session.ask(event);
    expect(both.map(attachedPayload)).toEqual([attachedPayload(again), attachedPayload(again)]);
    expect(session.ledger().session).toMatchObject({ admitted: 1 });
  });

  it.each([
    ["frontend-engineer", "spawn-guard:frontend-engineer"],
    ["spawn-guard:frontend-engineer", "spawn-guard:frontend-engineer"],
    ["Frontend Engineer", "spawn-guard:frontend-engineer"],
    ["explore", "Explore"],
    ["fork", "fork"],
    ["web-researcher-9000", "web-researcher-9000"],
    ["", "general-purpose"],
  ])("for agent type %j goes out as %j", async (given, expected) => {
    session = new HookSession();
    const result = await session.ask(session.agentCall("t1", {}, { subagent_type: given }));
    expect(updatedInput(result)?.subagent_type).toBe(expected);
  });

  it("without an agent type stays without one", async () => {
    session = new HookSession();
    const result = await session.ask(session.agentCall("t1", {}, { subagent_type: undefined }));
    expect(updatedInput(result)).not.toHaveProperty("subagent_type");
    expect(attachedPayload(result).subagent_role).toBe("general-purpose");
  });

  it("is refused with the block to use when payload_mode is require, and passes with it", async () => {
    session = new HookSession(undefined, { payload_mode: "require" });
    const refused = denial(await session.ask(session.agentCall("t1")));
    expect(refused).toContain("payload_mode is require");
    const block = /<spawn_payload>[\s\S]*<\/spawn_payload>/.exec(refused ?? "")?.[0];
    const passed = await session.ask(session.agentCall("t2", {}, { prompt: `look at one part\n${block}` }));
    expect(denial(passed)).toBeNull();
    expect(attachedPayload(passed).subagent_role).toBe("general-purpose");
  });
});

describe("depth", () => {
  const rows = [0, 1, 2, 3].flatMap((limit) =>
    [0, 1, 2, 3].map((caller) => [limit, caller, caller + 1 <= limit] as const),
  );

  it.each(rows)(
    "with subagent_max_depth %i and a caller at depth %i: admitted is %s",
    async (limit, caller, admitted) => {
      session = new HookSession();
      await chain(session, caller);
      session.environment.CLAUDE_PLUGIN_OPTION_SUBAGENT_MAX_DEPTH = String(limit);
      const by = caller === 0 ? {} : { agent_id: `a${caller}`, agent_type: "general-purpose" };
      const refused = denial(await session.ask(session.agentCall("last", by)));
      if (admitted) expect(refused).toBeNull();
      else {
        expect(refused).toContain(
          limit === 0 ? "subagent_max_depth is 0" : `at depth ${caller + 1}; the limit is ${limit}`,
        );
        expect(refused).toContain("delegating again will not help. Do the work yourself");
      }
    },
  );

  it("is filled in from the caller, and a parent that is not the caller is refused", async () => {
    session = new HookSession();
    await chain(session, 1);
    const by = { agent_id: "a1", agent_type: "general-purpose" };
    const nested = await session.ask(session.agentCall("n1", by));
    const parent = session.ledger().spawns[0]?.trace;
    expect(attachedPayload(nested).parent_trace_id).toBe(parent);

    const payload = {
      ...attachedPayload(nested),
      trace_id: "wf-20261130-zzzzzz-spawn-007",
      parent_trace_id: "wf-20261130-zzzzzz-spawn-001",
    };
    const prompt = `look\n<spawn_payload>\n${JSON.stringify(payload)}\n</spawn_payload>`;
    expect(denial(await session.ask(session.agentCall("n2", by, { prompt })))).toContain(
      `this call is made by ${parent}`,
    );
  });
});

/** A chain of running general-purpose agents a1, a2, … as deep as asked for. */
async function chain(at: HookSession, depth: number): Promise<void> {
  for (let level = 1; level <= depth; level++) {
    const by = level === 1 ? {} : { agent_id: `a${level - 1}`, agent_type: "general-purpose" };
    await at.ask(at.agentCall(`t${level}`, by));
    await at.send(at.launched(`t${level}`, `a${level}`, by));
  }
}

it("an option that the project's settings once named stays the project's, also when it is gone from the file", async () => {
  session = new HookSession(undefined, { subagent_max_depth: 9 });
  const settings = join(session.project, ".claude/settings.json");
  mkdirSync(join(session.project, ".claude"), { recursive: true });
  writeFileSync(settings, JSON.stringify({ env: { CLAUDE_PLUGIN_OPTION_SUBAGENT_MAX_DEPTH: "9" } }));
  await session.ask(session.event("SessionStart", { source: "startup" }));
  rmSync(settings);
  await chain(session, 3);
  const by = { agent_id: "a3", agent_type: "general-purpose" };
  expect(denial(await session.ask(session.agentCall("t4", by)))).toContain("at depth 4; the limit is 3");
});

it.each(["bob", "テスト".repeat(20), "x".repeat(500), "../../up", "a/b"])(
  "an agent that its caller names %j is bound and metered like any other",
  async (name) => {
    session = new HookSession();
    await session.ask(session.agentCall("t1", {}, { name }));
    const [bound] = await session.send(session.launched("t1", "a1"));
    expect(bound).toMatchObject({ exitCode: 0, json: null });
    expect(session.ledger().spawns).toMatchObject([{ agent: "a1", phase: "running" }]);
  },
);

it("a last message over max_output_tokens is said to the caller", async () => {
  session = new HookSession();
  const payload = {
    trace_id: "wf-20261130-abc123-spawn-001",
    subagent_role: "general-purpose",
    goal: "write a very long report",
    constraints: [],
    allowed_tools: ["*"],
    budget: {
      max_input_tokens: 1000,
      max_output_tokens: 50,
      max_tool_calls: 5,
      max_turns: 5,
      timeout_ms: 30000,
    },
  };
  const prompt = `look\n<spawn_payload>\n${JSON.stringify(payload)}\n</spawn_payload>`;
  await session.ask(session.agentCall("t1", {}, { prompt }));
  await session.send(session.launched("t1", "a1"));
  const by = { agent_id: "a1", agent_type: "general-purpose" };
  await session.ask(
    session.event("SubagentStop", { ...by, last_assistant_message: "w".repeat(400), background_tasks: [] }),
  );
  const response = { status: "completed", agentId: "a1", content: [] };
  const [returned] = await session.send({ ...session.launched("t1", "a1"), tool_response: response });
  expect(JSON.stringify(returned?.json)).toContain("the last message is about 100 tokens, 50 are allowed");
});
