import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { rootStepId } from "../../../src/acs/receipts.ts";
import { childSession, rootSession, stepId } from "../../../src/acs/session-id.ts";
import {
  childScope,
  deriveIntent,
  isWithinIntent,
  SCOPE_MODES,
  sessionScope,
} from "../../../src/guard/intent.ts";
import { isJson } from "../../../src/ledger/shape.ts";
import { DEFAULT_POLICY } from "../../../src/policy/policy-keys.ts";
import { promptOf } from "../../support/payload-prompt.ts";
import { chainsOf, mainChain } from "../../support/receipts.ts";
import { decidedSessions } from "../ledger/decided-session.ts";
import { payload } from "./spawn-states.ts";

type Json = Record<string, unknown>;

const set = (...rules: string[]) => ({ rules, banned: [] });

describe("how an intent comes from its parent's", () => {
  it.each([
    ["the person's own is fresh, whatever it holds", "person", set("*"), set("Read"), "fresh"],
    ["a caller's is derived, even the whole", "caller", set("*"), set("*"), "derived_from_parent"],
    ["the guard's that is the whole", "guard", set("Read", "Bash"), set("Bash", "Read"), "inherit_full"],
    ["the guard's that is the whole, said twice", "guard", set("Read"), set("Read", "Read"), "inherit_full"],
    ["the guard's that is less", "guard", set("Read", "Bash"), set("Read"), "inherit_subset"],
    ["the guard's that is narrower", "guard", set("Bash"), set("Bash(git log:*)"), "inherit_subset"],
    ["the guard's with a ban more", "guard", set("*"), { rules: ["*"], banned: ["Bash"] }, "inherit_subset"],
    ["the guard's with a ban less", "guard", { rules: ["*"], banned: ["Bash"] }, set("*"), "inherit_subset"],
    [
      "the guard's with its parent's bans",
      "guard",
      { rules: ["*"], banned: ["Bash"] },
      { rules: ["*"], banned: ["Bash"] },
      "inherit_full",
    ],
    ["the guard's of nothing", "guard", set("Read"), set(), "inherit_subset"],
  ] as const)("%s", (_, source, parent, child, derivation) => {
    expect(deriveIntent(source, parent, child)).toBe(derivation);
  });
});

const rules = fc.array(
  fc.constantFrom(
    "*",
    "Read",
    "Read(./src/**)",
    "Read(./src/a)",
    "Bash",
    "Bash(git:*)",
    "Bash(git log:*)",
    "Agent(a, b)",
    "mcp__a__*",
    "mcp__a__b",
    "odd rule(",
  ),
  { maxLength: 4 },
);

describe("being within an intent", () => {
  it("holds for the same set, and through any number of generations", () => {
    fc.assert(
      fc.property(rules, rules, rules, (one, two, three) => {
        expect(isWithinIntent(one, one)).toBe(true);
        fc.pre(isWithinIntent(one, two) && isWithinIntent(two, three));
        expect(isWithinIntent(one, three)).toBe(true);
      }),
    );
  });

  it("never holds for a set with a rule more than covers it", () => {
    fc.assert(
      fc.property(rules, rules, (parent, child) => {
        if (isWithinIntent(parent, child)) {
          for (const rule of child) expect(isWithinIntent(parent, [rule])).toBe(true);
        } else {
          expect(child.some((rule) => !isWithinIntent(parent, [rule]))).toBe(true);
          expect(isWithinIntent(parent, [...child, ...parent])).toBe(false);
        }
      }),
    );
  });
});

describe("how strictly a spawn is held", () => {
  it("is never looser than its parent is, whoever wrote the payload", () => {
    for (const parent of SCOPE_MODES) {
      for (const source of ["person", "caller", "guard"] as const) {
        const child = childScope(parent, source);
        expect(SCOPE_MODES.indexOf(child)).toBeLessThanOrEqual(SCOPE_MODES.indexOf(parent));
        if (source !== "guard") expect(child).not.toBe("permissive");
      }
    }
  });

  it.each([
    ["attach", "allow", "permissive"],
    ["attach", "deny", "permissive"],
    ["require", "allow", "moderate"],
    ["require", "deny", "strict"],
  ] as const)("follows payload_mode %s and unknown_roles %s: %s", (payload_mode, unknown_roles, scope) => {
    expect(sessionScope({ ...DEFAULT_POLICY, payload_mode, unknown_roles })).toBe(scope);
  });
});

describe("where an intent comes from, as the receipts say it", () => {
  const newSession = decidedSessions();
  const asking = (trace_id: string, allowed_tools: string[]) =>
    promptOf(payload({ trace_id, subagent_role: "general-purpose", allowed_tools }));

  it("the session's own is the user's", async () => {
    const session = newSession({ session_intent: "Read, Bash(git log:*)" });
    await session.decide(session.event("SessionStart", { source: "startup" }));
    expect(mainChain(session)[0]?.request.params.payload).toMatchObject({
      intent: {
        parsed: [{ tool: "Read" }, { tool: "Bash", operation: expect.stringContaining("git log") }],
        parser_provenance: { origin: "user_input", source_id: "policy session_intent" },
        scope_mode: "permissive",
      },
    });
  });

  it("one that the guard attached is the agent file's: all of the parent's, or less", async () => {
    const session = newSession();
    await session.decide(session.agentCall("c1"));
    await session.decide(session.agentCall("c2", {}, { subagent_type: "Explore" }));
    const [whole, less] = starts(mainChain(session));
    expect(whole).toMatchObject({
      intent_derivation: "inherit_full",
      subagent_intent: { parsed: [{ tool: "*" }] },
    });
    expect(less).toMatchObject({ intent_derivation: "inherit_subset" });
    for (const [start, type] of [
      [whole, "general-purpose"],
      [less, "Explore"],
    ] as const) {
      expect(start?.subagent_intent).toMatchObject({
        parser_provenance: { origin: "system", source_id: `agent file of ${type}` },
      });
    }
  });

  it("a caller's is a model's, and cites the step of the call", async () => {
    const session = newSession();
    await session.decide(session.event("SessionStart", { source: "startup" }));
    await session.running("c1", "a1");
    const by = { agent_id: "a1", agent_type: "general-purpose" };
    await session.decide(
      session.agentCall("c2", by, { prompt: asking("wf-20261130-abcdef-spawn-7", ["Read"]) }),
    );
    const root = rootSession(session.sessionId);
    const above = childSession(root, { call: "c1", agent: null });
    const step = stepId(above, "steps/toolCallRequest", "c2");
    expect(starts(chainsOf(session).get(above) ?? [])).toMatchObject([
      {
        intent_derivation: "derived_from_parent",
        parent_step_id: step,
        subagent_intent: {
          parsed: [{ tool: "Read" }],
          parser_provenance: {
            origin: "agent_generated",
            source_id: session.spawnOfCall("c1").trace,
            derived_from: [step],
          },
          scope_mode: "moderate",
        },
      },
    ]);
    expect(mainChain(session)[0]?.request.id).toBe(rootStepId(root));
  });

  it.each([
    ["*", "Read"],
    ["Read", "*"],
  ])(
    "is what policy said when the session began, and nothing later replaces it: %s, then %s",
    async (first, later) => {
      const session = newSession({ session_intent: first });
      await session.decide(session.event("SessionStart", { source: "startup" }));
      session.environment.CLAUDE_PLUGIN_OPTION_SESSION_INTENT = later;
      const { deny } = await session.decide(
        session.agentCall("c1", {}, { prompt: asking("wf-20261201-abc123-spawn-001", ["Bash"]) }),
      );
      expect(deny === undefined).toBe(first === "*");
    },
  );

  it.each([
    ["as it was built", "", "fresh", { origin: "user_input", source_id: "/subagent-spawn" }],
    ["changed by a letter", ".", "derived_from_parent", { origin: "agent_generated", source_id: "main" }],
  ])("one that the person typed is theirs %s", async (_, change, derivation, provenance) => {
    const session = newSession();
    const command = {
      command_name: "spawn-guard:subagent-spawn",
      command_args: '--role general-purpose --task "look at one part"',
    };
    // As a process: the builder looks for the plugin's agents beside the hook's script.
    const answer = await session.ask(session.event("UserPromptExpansion", command));
    const output = answer.json?.hookSpecificOutput;
    const additionalContext = isJson(output) ? String(output.additionalContext) : "";
    const built = /<subagent_spawn_result>\n([\s\S]*)\n<\/subagent_spawn_result>/.exec(
      additionalContext,
    )?.[1];
    const typed: Json = JSON.parse(built ?? "{}").spawn_payload;
    const given = { ...typed, goal: `${typed.goal}${change}` };
    await session.decide(session.agentCall("c1", {}, { prompt: promptOf(given) }));
    expect(starts(mainChain(session))).toMatchObject([
      { intent_derivation: derivation, subagent_intent: { parser_provenance: provenance } },
    ]);
  });

  function starts(receipts: ReturnType<typeof mainChain>): Json[] {
    return receipts
      .filter(({ request }) => request.method === "steps/subagentStart")
      .map(({ request }) => request.params.payload);
  }
});
