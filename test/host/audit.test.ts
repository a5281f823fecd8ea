import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Receipt } from "../../src/acs/envelope.ts";
import { type GuardedRun, guardedRun, payloadIn, removeRuns } from "./guarded-run.ts";
import { installClaude } from "./harness/claude-program.ts";
import { type Ask, script } from "./harness/scripted-model.ts";
import { temporaryFolder } from "./harness/temporary-folder.ts";
import { agentOf, bash, callId, loadTools, named, promptWithPayload, spawnOf } from "./model-calls.ts";

beforeAll(installClaude, 300_000);
afterAll(removeRuns);

function steps(receipts: readonly Receipt[], method: string): Receipt[] {
  return receipts.filter(({ request }) => request.method === method);
}

/** The subagentStart that the call of that name led to. */
function startOf(run: GuardedRun, name: string): Receipt {
  const call = steps(run.receipts, "steps/toolCallRequest").find(({ request }) =>
    JSON.stringify(request.params.metadata.spawn_guard).includes(`"${callId(name)}"`),
  );
  const start = steps(run.receipts, "steps/subagentStart").find(
    ({ request }) => request.params.payload.parent_step_id === call?.request.id,
  );
  if (start === undefined) throw new Error(`no subagentStart of ${name}`);
  return start;
}

function provenance(run: GuardedRun, name: string): unknown {
  const { payload } = startOf(run, name).request.params;
  const { parser_provenance } = payload.subagent_intent as { parser_provenance: Record<string, unknown> };
  const { provenance_id: _, ...said } = parser_provenance;
  return { derivation: payload.intent_derivation, ...said };
}

/** The arguments of the Agent call that the typed command put into the conversation. */
function built(ask: Ask): Record<string, unknown> {
  const text = ask.body.messages
    .flatMap(({ content }) =>
      typeof content === "string" ? [content] : content.map(({ text = "" }) => text),
    )
    .find((part) => part.includes('"agent_input"'));
  if (text === undefined) throw new Error("nothing was built");
  const { agent_input } = JSON.parse(text.slice(text.indexOf("{"), text.lastIndexOf("}") + 1));
  return { ...agent_input, run_in_background: false };
}

const READER = { allowed_tools: ["Read", "Agent"] };

describe("the intent of each spawn", () => {
  let run: GuardedRun;

  beforeAll(async () => {
    run = await guardedRun({
      prompt: '/subagent-spawn --role qa-engineer --task "test the login form"',
      model: script({
        "OWN go": [
          {
            calls: [
              named("BELOW", "general-purpose", {
                prompt: promptWithPayload("BELOW", { allowed_tools: ["Bash"] }),
              }),
              named("WITHIN", "general-purpose", {
                prompt: promptWithPayload("WITHIN", {
                  allowed_tools: ["Read"],
                  budget: { max_input_tokens: 1000 },
                }),
              }),
              named("ATTACHED"),
            ],
          },
        ],
        "subagent-spawn": [
          (ask) => ({
            calls: [
              { name: "Agent", input: built(ask), id: callId("TYPED") },
              { name: "Agent", input: altered(built(ask)), id: callId("ALTERED") },
              named("WHOLE"),
              named("PART", "spawn-guard:eval-judge"),
              named("OWN", "general-purpose", { prompt: promptWithPayload("OWN", READER) }),
            ],
          }),
        ],
      }),
    });
  }, 60_000);

  it.each([
    ["TYPED", { derivation: "fresh", origin: "user_input", source_id: "/subagent-spawn" }],
    ["WHOLE", { derivation: "inherit_full", origin: "system", source_id: "agent file of general-purpose" }],
    [
      "PART",
      { derivation: "inherit_subset", origin: "system", source_id: "agent file of spawn-guard:eval-judge" },
    ],
    ["OWN", { derivation: "derived_from_parent", origin: "agent_generated", source_id: "main" }],
    ["ALTERED", { derivation: "derived_from_parent", origin: "agent_generated", source_id: "main" }],
  ])("of %s says where it comes from, and its own chain begins with it", (name, expected) => {
    const start = startOf(run, name);
    const { payload } = start.request.params;
    expect(provenance(run, name)).toMatchObject(expected);
    expect(start.response.result.decision).toBe("allow");
    const first = run.receipts.find(
      ({ request }) => request.params.metadata.session_id === payload.subagent_session_id,
    );
    expect(first?.request.method).toBe("steps/sessionStart");
    expect(first?.request.params.payload.intent).toEqual(payload.subagent_intent);
  });

  it("cites the caller's step where a caller wrote it", () => {
    const { payload } = startOf(run, "OWN").request.params;
    expect(provenance(run, "OWN")).toMatchObject({ derived_from: [payload.parent_step_id] });
  });

  it("stays within the parent's: what the parent lacks is refused, what it has is not", () => {
    const refused = startOf(run, "BELOW").response.result;
    expect(refused).toMatchObject({ decision: "deny", reason_codes: ["intent_exceeded"] });
    expect(spawnOf(run, "BELOW")).toBeUndefined();
    expect(spawnOf(run, "WITHIN")).toMatchObject({ outcome: "completed", intent: ["Read"] });
    expect(startOf(run, "ATTACHED").request.params.payload.intent_derivation).toBe("inherit_full");
  });

  it("leaves a refused spawn its stop, and no chain", () => {
    const { subagent_session_id: session } = startOf(run, "BELOW").request.params.payload;
    const stops = steps(run.receipts, "steps/subagentStop").filter(
      ({ request }) => request.params.payload.subagent_session_id === session,
    );
    expect(stops.map(({ request }) => request.params.payload.outcome)).toEqual(["denied_at_spawn"]);
    expect(run.receipts.some(({ request }) => request.params.metadata.session_id === session)).toBe(false);
  });

  it("of the session is the user's, and every spawn's end is linked", () => {
    const own = run.receipts.filter(({ request }) => request.params.metadata.session_id === run.sessionId);
    const root = own[0]?.request.params.payload.intent;
    expect(root).toMatchObject({
      parsed: [{ tool: "*" }],
      parser_provenance: { origin: "user_input", source_id: "policy session_intent" },
    });
    const ends = steps(run.receipts, "steps/subagentStop").filter(
      ({ request }) => request.params.payload.outcome !== "denied_at_spawn",
    );
    expect(ends).toHaveLength(run.spawns.length);
    expect(ends.every(({ request }) => request.params.payload.final_chain_hash !== undefined)).toBe(true);
  });
});

function altered({ prompt, ...input }: Record<string, unknown>): Record<string, unknown> {
  const payload = payloadIn(String(prompt));
  const text = JSON.stringify({ ...payload, trace_id: "wf-20261130-other0-spawn-001" });
  return { ...input, prompt: `ALTERED\n<spawn_payload>\n${text}\n</spawn_payload>` };
}

it("a session whose user meant less hands out no more", async () => {
  const run = await guardedRun({
    prompt: "MAIN go",
    options: { session_intent: "Agent, Read, Grep" },
    model: script({
      MAIN: [
        {
          calls: [
            named("BEYOND", "general-purpose", {
              prompt: promptWithPayload("BEYOND", { allowed_tools: ["Bash"] }),
            }),
            named("INSIDE", "general-purpose", {
              prompt: promptWithPayload("INSIDE", { allowed_tools: ["Grep"] }),
            }),
          ],
        },
      ],
    }),
  });
  expect(startOf(run, "BEYOND").response.result.reason_codes).toEqual(["intent_exceeded"]);
  expect(spawnOf(run, "INSIDE")).toMatchObject({ outcome: "completed", intent: ["Grep"] });
});

describe("a chain that goes on", () => {
  const KEY = "0123456789abcdef".repeat(4);
  const home = temporaryFolder("home");
  const sessionId = "0c0c0c0c-1111-4222-8333-444444444444";

  it("takes up a resumed session and a woken agent, signed, and the CLI in the session's shell says so", async () => {
    const first = await guardedRun({
      prompt: "MAIN go",
      home,
      sessionId,
      env: { SPAWN_GUARD_AUDIT_KEY: KEY },
      model: script({
        "SLEEPER go": [{ text: "slept" }, { text: "slept again" }],
        MAIN: [
          { calls: [loadTools, named("SLEEPER")] },
          (ask) => ({
            calls: [
              {
                name: "SendMessage",
                input: { to: agentOf(ask, "SLEEPER"), summary: "again", message: "AGAIN" },
              },
            ],
          }),
        ],
      }),
    });
    const run = await guardedRun({
      prompt: "MORE",
      home,
      resume: sessionId,
      env: { SPAWN_GUARD_AUDIT_KEY: KEY },
      model: (ask) => {
        if (ask.firstPrompt.includes("LATER go")) return { text: "done" };
        if (ask.lastText.includes("MORE")) return { calls: [named("LATER")] };
        if (ask.lastToolResults[0]?.toolUseId === callId("LATER"))
          return { calls: [bash("spawn-guard audit verify")] };
        return { text: ask.lastToolResults.map(({ text }) => text).join() };
      },
    });
    const own = run.receipts.filter(({ request }) => request.params.metadata.session_id === sessionId);
    const before = first.receipts.filter(({ request }) => request.params.metadata.session_id === sessionId);
    expect(own.slice(0, before.length)).toEqual(before);
    expect(own.length).toBeGreaterThan(before.length);
    expect(steps(own, "steps/sessionStart")).toHaveLength(1);
    expect(steps(own, "steps/sessionEnd")).toHaveLength(2);
    const slept = startOf(run, "SLEEPER").request.params.payload.subagent_session_id;
    const below = run.receipts.filter(({ request }) => request.params.metadata.session_id === slept);
    expect(below.map(({ request }) => request.method)).toEqual([
      "steps/sessionStart",
      "steps/sessionEnd",
      "steps/sessionEnd",
    ]);
    expect(run.receipts.every(({ request }) => request.params.signature !== undefined)).toBe(true);
    expect(run.result).toMatch(/^ok .*: 3 chains, 15 entries, 15 signed$/);
    const said = run.hookCalls.map(({ stdout, stderr }) => ({ stdout, stderr }));
    const told = run.asks.map(({ body }) => body);
    expect(JSON.stringify([said, told, run.receipts]).includes(KEY)).toBe(false);
  });
});
