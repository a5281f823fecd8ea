import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildAgentCall } from "../../../src/payload/agent-call.ts";
import { buildPayload } from "../../../src/payload/build-payload.ts";
import { formatProblems } from "../../../src/payload/format-problems.ts";
import { findBlock, renderBlock, replaceBlock } from "../../../src/payload/prompt-block.ts";
import type { SpawnPayload } from "../../../src/payload/spawn-payload.ts";
import { aPayload, aRole, WRAPPED_AT } from "../../unit/payload/samples.ts";
import { hostileState, hostileText, hostileTextOf } from "./texts.ts";

const goal = hostileTextOf(10, 1000).filter((text) => text.trim() !== "");
const constraints = fc.array(hostileTextOf(5, 200), { maxLength: 19 });
const label = hostileTextOf(1, 150).map(
  (text) => `L0:x${text.replace(/[\p{Cc}\p{Cs}\u2028\u2029]/gu, "_")}x`,
);
const untrusted = fc.uniqueArray(fc.record({ source: label, text: hostileText }), {
  selector: ({ source }) => source,
  maxLength: 3,
});

const request = fc.record({ task: goal, constraints, slice: hostileState, untrusted });

describe("whatever the texts say", () => {
  it("the prompt has one block, and it parses back to the payload", () => {
    fc.assert(
      fc.property(request, ({ task, constraints, slice, untrusted }) => {
        const payload = builtPayload({ task, constraints, slice, untrusted });
        const { agentInput } = buildAgentCall({
          payload,
          role: aRole(),
          pluginName: "spawn-guard",
          untrusted,
          wrappedAt: WRAPPED_AT,
        });
        expect(findBlock(agentInput.prompt)).toMatchObject({ kind: "one" });
        const found = findBlock(agentInput.prompt);
        expect(found.kind === "one" ? JSON.stringify(found.json) : found).toBe(JSON.stringify(payload));
      }),
      { numRuns: 500 },
    );
  });

  it("agent_call is an expression that gives agent_input exactly", () => {
    fc.assert(
      fc.property(request, ({ task, constraints, slice, untrusted }) => {
        const payload = builtPayload({ task, constraints, slice, untrusted });
        const { agentInput, agentCall } = buildAgentCall({
          payload,
          role: aRole(),
          pluginName: "spawn-guard",
          untrusted,
          wrappedAt: WRAPPED_AT,
        });
        const parsed: unknown = new Function("Agent", `return ${agentCall}`)((input: unknown) => input);
        expect(parsed).toStrictEqual(agentInput);
      }),
      { numRuns: 500 },
    );
  });

  it("foreign text adds no closing tag of its wrapper", () => {
    fc.assert(
      fc.property(untrusted, (untrusted) => {
        const { agentInput } = buildAgentCall({
          payload: aPayload(),
          role: aRole(),
          pluginName: "spawn-guard",
          untrusted,
          wrappedAt: WRAPPED_AT,
        });
        expect(agentInput.prompt.split("</untrusted_content>").length - 1).toBe(untrusted.length);
        expect(agentInput.prompt.split("<untrusted_content ").length - 1).toBe(untrusted.length);
      }),
    );
  });

  it("replacing the block keeps every character around it", () => {
    const outside = hostileText.filter((text) => !text.includes("spawn_payload"));
    fc.assert(
      fc.property(outside, outside, goal, (before, after, goal) => {
        const prompt = `${before}\n${renderBlock(aPayload())}\n${after}`;
        const found = findBlock(prompt);
        if (found.kind !== "one") throw new Error(`found ${found.kind}`);
        const payload = aPayload({ goal });
        expect(replaceBlock(prompt, found, payload)).toBe(`${before}\n${renderBlock(payload)}\n${after}`);
      }),
    );
  });

  it("findBlock never throws, and what it finds is where it says", () => {
    fc.assert(
      fc.property(fc.array(hostileText, { maxLength: 6 }), (lines) => {
        const prompt = lines.join("\n");
        const found = findBlock(prompt);
        if (found.kind !== "one") return;
        const block = prompt.slice(found.start, found.end);
        expect(findBlock(block)).toStrictEqual({ ...found, start: 0, end: block.length });
      }),
      { numRuns: 2000 },
    );
  });
});

function builtPayload(given: {
  task: string;
  constraints: string[];
  slice: Record<string, unknown>;
  untrusted: { source: string; text: string }[];
}): SpawnPayload {
  const built = buildPayload({
    role: aRole(),
    traceId: "wf-20260427-abc123-spawn-001",
    task: given.task,
    constraints: given.constraints,
    state: { slice: withoutKnownMembers(given.slice), source: "L0:state:s.json" },
    untrusted: given.untrusted,
    wrappedAt: WRAPPED_AT,
  });
  if (!built.ok) throw new Error(formatProblems(built.problems));
  return built.payload;
}

/** The known members are typed; the rest of the state is free. */
function withoutKnownMembers(slice: Record<string, unknown>): Record<string, unknown> {
  const known = ["active_files", "current_branch", "related_artefacts"];
  return Object.fromEntries(Object.entries(slice).filter(([name]) => !known.includes(name)));
}
