import fc from "fast-check";
import type { Receipt, Step } from "../../src/acs/envelope.ts";
import { type Actor, sessionEnd, sessionStart, subagentStop, toolCall } from "../../src/acs/receipts.ts";
import { type ChainEnd, seal } from "../../src/acs/seal.ts";
import type { Signer } from "../../src/acs/signer.ts";

/** 2026-11-30T12:00:00Z */
export const NOW = Date.UTC(2026, 10, 30, 12);

export const ACTOR: Actor = {
  session: "0c1fd7a2-6f0e-4f5e-9d3f-6a1f6b1f2a01",
  agent: "main",
  name: "claude-code",
};

export const NO_CHAIN: ChainEnd = { entry: null, line: null };

/** A step as the receipt that follows `end`. */
export function receiptOf(step: Step, end: ChainEnd = NO_CHAIN, signer: Signer | null = null): Receipt {
  return JSON.parse(seal(step, end, signer).line);
}

export function rootStep(): Step {
  const intent = {
    rules: ["*"],
    banned: [],
    scope: "permissive" as const,
    provenance: { origin: "user_input" as const, source: "policy session_intent" },
  };
  return sessionStart({ actor: ACTOR, now: NOW }, intent, { cwd: "/work" });
}

/** A refused tool call; another `call`, another step. */
export function callStep(
  call: string,
  tool = "Bash",
  input: Record<string, unknown> = {},
  actor: Actor = ACTOR,
): Step {
  const refused = { decision: "deny" as const, codes: ["tool_not_allowed"], reasoning: `no ${tool}` };
  return toolCall({ actor, now: NOW }, { tool, call, input }, refused, null);
}

/** Texts with what gives JSON and UTF-8 trouble: quotes, controls, U+FFFD, halves of surrogate pairs. */
const odd = fc.constantFrom(
  '"',
  "\\",
  "\n",
  "\u0000",
  "\u2028",
  "\uFFFD",
  "\uD800",
  "\uDC00",
  "𝒳",
  "é",
  "\\ud800",
);
const text = fc.string({ unit: fc.oneof(fc.string({ minLength: 1, maxLength: 4 }), odd), maxLength: 8 });

/** Steps of different kinds with odd content; `key` tells them apart. */
function stepOf(key: string): fc.Arbitrary<Step> {
  const occasion = { actor: ACTOR, now: NOW };
  return fc.oneof(
    fc
      .record({ tool: text, input: fc.dictionary(text, fc.jsonValue(), { maxKeys: 3 }) })
      .map(({ tool, input }) => callStep(key, tool, input)),
    text.map((reason) => sessionEnd(occasion, key, { reason })),
    text.map((detail) =>
      subagentStop(occasion, key, {
        childSession: "7b0f4c61-9b1f-5d0c-8a54-0a6e6f9b8c11",
        outcome: "completed",
        finalHash: null,
        steps: 2,
        summary: { detail },
      }),
    ),
  );
}

/** Groups of steps, each appended as one. */
export const appends: fc.Arbitrary<Step[][]> = fc
  .array(fc.integer({ min: 1, max: 3 }), { minLength: 1, maxLength: 8 })
  .chain((sizes) =>
    fc.tuple(
      ...sizes.map((size, at) =>
        fc.tuple(...Array.from({ length: size }, (_, index) => stepOf(`${at}.${index}`))),
      ),
    ),
  );
