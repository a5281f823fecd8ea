import { afterEach, describe, expect, it } from "vitest";
import { MAX_LINE_BYTES } from "../../../src/acs/chain-files.ts";
import type { Receipt } from "../../../src/acs/envelope.ts";
import { childSession, rootSession } from "../../../src/acs/session-id.ts";
import { attachedPayload, denial, HookSession } from "../../support/hook-session.ts";
import { chainsOf, mainChain, stepsOf, verified } from "../../support/receipts.ts";

type Json = Record<string, unknown>;

let session: HookSession;
afterEach(() => session.remove());

const BY = { agent_id: "a1", agent_type: "general-purpose" };

function decisions(receipts: readonly Receipt[]): unknown[] {
  return receipts.map(({ request, response: { result } }) => [
    request.method.replace("steps/", ""),
    result.decision,
    ...result.reason_codes,
  ]);
}

/** A session whose chain has been opened. */
async function opened(options: Record<string, string | number> = {}): Promise<HookSession> {
  session = new HookSession(undefined, options);
  await session.ask(session.event("SessionStart", { source: "startup" }));
  return session;
}

/** A spawn that runs as agent a1. */
async function spawned(): Promise<string> {
  const result = await session.ask(session.agentCall("c1"));
  await session.send(session.launched("c1", "a1"));
  return String(attachedPayload(result).trace_id);
}

describe('what the guard cannot judge is recorded (DESIGN "Failure")', () => {
  const REFUSED = [
    ["toolCallRequest", "deny", "guard_error"],
    ["subagentStart", "deny", "guard_error"],
    ["subagentStop", "allow"],
  ];
  const LET_THROUGH = [
    ["toolCallRequest", "allow", "guard_error"],
    ["subagentStart", "allow", "guard_error"],
  ];

  it.each<[string, Json, Json]>([
    ["no prompt", {}, { prompt: undefined }],
    ["a description that is a list", {}, { description: [] }],
    ["an input that is a text", { tool_input: "do it" }, {}],
  ])("a spawn with %s: refused, and let through where spawn_on_error is allow", async (_, members, input) => {
    for (const [options, expected] of [
      [{}, REFUSED],
      [{ spawn_on_error: "allow" }, LET_THROUGH],
    ] as const) {
      session?.remove();
      await opened(options);
      const result = await session.ask({ ...session.agentCall("c1", {}, input), ...members });
      expect(denial(result) === null).toBe(expected === LET_THROUGH);
      expect(result.json?.systemMessage).toContain("could not judge");
      expect(decisions(mainChain(session).slice(1))).toEqual(expected);
      const [, , start, stop] = mainChain(session);
      expect(start?.request.params.payload.parent_step_id).toBe(mainChain(session)[1]?.request.id);
      if (stop !== undefined) expect(stop.request.params.payload.outcome).toBe("denied_at_spawn");
      expect(verified(session)).toMatchObject({ broken: [], notices: [] });
    }
  });

  it("a spawn of a subagent, on its own chain", async () => {
    await opened();
    await spawned();
    await session.ask(session.agentCall("c2", BY, { prompt: 7 }));
    const own = chainsOf(session).get(
      childSession(rootSession(session.sessionId), { call: "c1", agent: null }),
    );
    expect(decisions(own?.slice(1) ?? [])).toEqual(REFUSED);
  });

  it.each([
    ["allow", "allow"],
    ["deny", "deny"],
  ])("a subagent's tool call where tool_on_error is %s", async (mode, decision) => {
    await opened({ tool_on_error: mode });
    await spawned();
    const broken = { tool_name: "Read", tool_use_id: "r1", tool_input: "no object", ...BY };
    await session.ask(session.event("PreToolUse", broken));
    const own = chainsOf(session).get(
      childSession(rootSession(session.sessionId), { call: "c1", agent: null }),
    );
    expect(decisions(own?.slice(1) ?? [])).toEqual([["toolCallRequest", decision, "guard_error"]]);
    expect(verified(session).broken).toEqual([]);
  });

  it.each<[string, Json]>([
    ["has no id", { tool_use_id: undefined }],
    ["has an id of 10,000 characters", { tool_use_id: "t".repeat(10_000) }],
    ["is made by an agent that nobody knows", { agent_id: "nobody", tool_input: { prompt: 1 } }],
  ])("and where a call %s, that is said and stands in the next receipt", async (_, members) => {
    await opened();
    const result = await session.ask({ ...session.agentCall("c1"), ...members });
    expect(denial(result)).toContain("could not judge");
    expect(result.json?.systemMessage).toContain("could not write its audit chain");
    expect(mainChain(session)).toHaveLength(1);
    await session.ask(session.agentCall("c2"));
    expect(JSON.stringify(mainChain(session)[1])).toContain('"audit_gap":{"missed":1');
  });

  it("and under audit: require nothing is let through that cannot be recorded", async () => {
    session = new HookSession(undefined, { spawn_on_error: "allow", audit: "require" });
    expect(denial(await session.raw("no JSON"))).toContain("could not be recorded");
    expect(denial(await session.ask(session.agentCall("c1", {}, { prompt: 1 })))).toBeNull();
    expect(denial(await session.ask(session.agentCall("c2", { tool_use_id: 5 }, { prompt: 1 })))).toContain(
      "could not be recorded",
    );
  });
});

describe("an event that comes twice (case 56)", () => {
  it.each<[string, Json, Json]>([
    ["an admitted spawn", {}, {}],
    ["a refused spawn", { subagent_max_depth: 0 }, {}],
    ["a spawn that cannot be judged", {}, { prompt: 1 }],
  ])("is recorded once: %s", async (_, options, input) => {
    await opened(options as Record<string, string>);
    const event = session.agentCall("c1", {}, input);
    await Promise.all([session.ask(event), session.ask(event), session.ask(event)]);
    await session.ask(event);
    const steps = stepsOf(mainChain(session));
    expect(new Set(steps).size).toBe(steps.length);
    expect(steps.slice(0, 3)).toEqual(["sessionStart", "toolCallRequest", "subagentStart"]);
    expect(verified(session)).toMatchObject({ broken: [], notices: [] });
  });

  it("is recorded once: starts and ends of sessions and subagents", async () => {
    session = new HookSession();
    const twice = async (event: Json) => {
      await Promise.all([session.send(event), session.send(event)]);
      await session.send(event);
    };
    await twice(session.event("SessionStart", { source: "startup" }));
    await spawned();
    await twice(session.event("PreToolUse", { ...BY, tool_name: "Read", tool_use_id: "r1", tool_input: {} }));
    await twice(session.event("SubagentStop", { ...BY, last_assistant_message: "done" }));
    await twice(session.event("SessionEnd", { reason: "other" }));
    expect(stepsOf(mainChain(session))).toEqual([
      "sessionStart",
      "toolCallRequest",
      "subagentStart",
      "subagentStop",
      "sessionEnd",
    ]);
    const own = chainsOf(session).get(
      childSession(rootSession(session.sessionId), { call: "c1", agent: null }),
    );
    expect(stepsOf(own ?? [])).toEqual(["sessionStart", "sessionEnd"]);
    expect(verified(session)).toMatchObject({ broken: [], notices: [] });
  });
});

describe("what is resumed", () => {
  it("goes on with its chain: a session", async () => {
    await opened();
    await session.ask(session.event("SessionEnd", { reason: "other" }));
    await session.ask(session.event("SessionStart", { source: "resume" }));
    await session.ask(session.agentCall("c1"));
    await session.ask(session.event("SessionEnd", { reason: "other" }));
    const steps = stepsOf(mainChain(session));
    expect(steps.slice(0, 4)).toEqual(["sessionStart", "sessionEnd", "toolCallRequest", "subagentStart"]);
    expect(steps.filter((step) => step === "sessionStart")).toHaveLength(1);
    expect(steps.at(-1)).toBe("sessionEnd");
    expect(verified(session)).toMatchObject({ broken: [], notices: [] });
  });

  it("goes on with its chain: a subagent", async () => {
    await opened();
    await spawned();
    const read = (id: string) =>
      session.event("PreToolUse", { ...BY, tool_name: "Read", tool_use_id: id, tool_input: {} });
    await session.ask(session.event("SubagentStop", { ...BY, last_assistant_message: "done" }));
    await session.ask(session.event("SubagentStart", BY));
    await session.ask(read("r1"));
    await session.ask(session.event("SubagentStop", { ...BY, last_assistant_message: "done" }));
    const child = childSession(rootSession(session.sessionId), { call: "c1", agent: null });
    expect(stepsOf(chainsOf(session).get(child) ?? [])).toEqual(["sessionStart", "sessionEnd", "sessionEnd"]);
    const about = mainChain(session).filter(
      ({ request }) => request.params.payload.subagent_session_id === child,
    );
    expect(stepsOf(about)).toEqual(["subagentStart", "subagentStop", "subagentStart", "subagentStop"]);
    expect(about[2]?.request.params.metadata).toMatchObject({ spawn_guard: { resumed: true } });
    expect(verified(session)).toMatchObject({ broken: [], notices: [] });
  });
});

describe("what is kept of a call (cases 120, 126)", () => {
  const SECRET = "sk-proj-Zb3kQ9vXw1Lr7Tt5Yp2Nn8Mm4Hh6Gg0Ff";
  const prompt = `log in with ${SECRET} and look`;

  it("is hashes and sizes by default, and no word of it", async () => {
    await opened();
    await session.ask(session.agentCall("c1", {}, { prompt, description: "a part of it" }));
    const text = JSON.stringify([...chainsOf(session)]);
    expect(text).not.toContain("log in");
    expect(text).not.toContain(SECRET);
    expect(argument("prompt")).toEqual({
      sha256: expect.stringMatching(/^[0-9a-f]{64}$/),
      bytes: prompt.length,
    });
  });

  it("is its redacted text as well where audit_content is on", async () => {
    await opened({ audit_content: "on" });
    await session.ask(session.agentCall("c1", {}, { prompt, env: { API_KEY: "hunter2", MODE: "x" } }));
    const text = JSON.stringify([...chainsOf(session)]);
    expect(text).not.toContain(SECRET);
    expect(text).not.toContain("hunter2");
    expect(argument("prompt")).toMatchObject({
      content: expect.stringMatching(/^log in with \[redacted:.*\] and look$/),
    });
    expect(argument("env")).toMatchObject({ content: expect.stringContaining('"MODE":"x"') });
  });

  it.each([8_000, 70_000, 600_000])(
    "has a bounded line for a prompt of %i bytes, and 12 at once stay apart",
    async (size) => {
      await opened({ audit_content: "on" });
      const prompts = Array.from({ length: 12 }, (_, index) => `${index} ${"é\u0001".repeat(size / 3)}`);
      await Promise.all(
        prompts.map((text, index) => session.ask(session.agentCall(`c${index}`, {}, { prompt: text }))),
      );
      const calls = mainChain(session).filter(({ request }) => request.method === "steps/toolCallRequest");
      expect(calls).toHaveLength(12);
      for (const receipt of mainChain(session)) {
        expect(Buffer.byteLength(JSON.stringify(receipt))).toBeLessThan(MAX_LINE_BYTES / 2);
      }
      const bytes = calls.map((receipt) => (argumentOf(receipt, "prompt") as { bytes: number }).bytes).sort();
      expect(bytes).toEqual(prompts.map((text) => Buffer.byteLength(text)).sort());
      expect(verified(session)).toMatchObject({ broken: [], notices: [] });
    },
  );

  function argument(name: string): unknown {
    return argumentOf(mainChain(session)[1], name);
  }

  function argumentOf(receipt: Receipt | undefined, name: string): unknown {
    const all = receipt?.request.params.payload.arguments as Record<string, { value: unknown }> | undefined;
    return all?.[name]?.value;
  }
});

describe("50 hook processes at once on one session (case 118)", () => {
  it("leave 50 spawns in one linear chain, each step once", async () => {
    await opened({ max_concurrent_spawns: 1000, max_spawns_per_session: 1000, max_children_per_spawn: 1000 });
    const calls = Array.from({ length: 50 }, (_, index) => `c${index}`);
    const results = await Promise.all(calls.map((call) => session.ask(session.agentCall(call))));
    expect(results.map(denial)).toEqual(calls.map(() => null));
    expect(results.map(({ json }) => json?.systemMessage)).toEqual(calls.map(() => undefined));
    const receipts = mainChain(session);
    expect(receipts).toHaveLength(101);
    expect(new Set(receipts.map(({ entry }) => entry.previous_hash)).size).toBe(101);
    expect(verified(session)).toMatchObject({ broken: [], notices: [] });
  });
});
