import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { buildAgentCall } from "../../../src/payload/agent-call.ts";
import { buildPayload } from "../../../src/payload/build-payload.ts";
import { formatProblems } from "../../../src/payload/format-problems.ts";
import { checkGivenPayload } from "../../../src/payload/given-payload.ts";
import { findBlock } from "../../../src/payload/prompt-block.ts";
import { isWrapped, wrapSlice } from "../../../src/payload/state-slice.ts";
import { wrappedSources, wrapUntrusted } from "../../../src/payload/untrusted-content.ts";
import { aRequest, WRAPPED_AT } from "../../unit/payload/samples.ts";
import { hostileState, hostileText } from "./texts.ts";

const OPEN = `<untrusted_content source="L2:a" timestamp="${WRAPPED_AT}">`;
const CLOSE = "</untrusted_content>";
/** Envelopes and parts of them, between anything else. */
const envelopeText = fc
  .array(
    fc.oneof(
      fc.constantFrom(
        OPEN,
        CLOSE,
        "\n",
        `${OPEN}\n`,
        `\n${CLOSE}`,
        "&lt;",
        "\uff1c/untrusted_content\uff1e",
        "<UNTRUSTED_CONTENT>",
      ),
      hostileText,
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join(""));
const label = fc.constantFrom("L0:page", "L2:a", 'L0:"q" & <b>', "tool:Read:t1");
const state = fc.oneof(
  hostileState,
  fc.dictionary(fc.constantFrom("notes", "a b", "__proto__", "語"), envelopeText),
);

/** As a reader of markup would see it: what stands between an opening tag and the first thing like a closing one. */
function insideFirst(envelope: string): string | undefined {
  return /^<untrusted_content source="[^"]*" timestamp="[^"]*">\n([\s\S]*?)\n?<[\s/]*untrusted_content/i.exec(
    envelope.normalize("NFKC"),
  )?.[1];
}

describe("whatever a text says", () => {
  it("it ends where its envelope ends", () => {
    fc.assert(
      fc.property(envelopeText, label, (text, source) => {
        const wrapped = wrapUntrusted({ source, text }, WRAPPED_AT);
        const sources = wrappedSources(text);
        if (sources === null) {
          expect(wrapped.match(/<[\s/]*untrusted_content/gi)).toHaveLength(2);
          const inside = insideFirst(wrapped);
          expect(wrapped.normalize("NFKC")).toContain(`${inside}\n${CLOSE}`);
          expect(inside).not.toMatch(/[<>]/);
        } else {
          expect(wrapped).toBe(text);
        }
        expect(wrapped.trimEnd().endsWith(CLOSE)).toBe(true);
      }),
      { numRuns: 2000 },
    );
  });

  it("wrapping it a second time changes nothing", () => {
    fc.assert(
      fc.property(envelopeText, label, label, (text, one, other) => {
        const once = wrapUntrusted({ source: one, text }, WRAPPED_AT);
        expect(wrapUntrusted({ source: other, text: once }, "2027-01-01T00:00:00.000Z")).toBe(once);
        expect(wrappedSources(once)).toEqual(wrappedSources(text) ?? [one]);
      }),
      { numRuns: 2000 },
    );
  });

  it("wrapping a state a second time changes nothing, and leaves no bare text in it", () => {
    fc.assert(
      fc.property(state, (slice) => {
        const once = wrapSlice(slice, "L0:state:s", WRAPPED_AT);
        expect(isWrapped(once.slice)).toBe(true);
        const twice = wrapSlice(once.slice, "L0:state:t", "2027-01-01T00:00:00.000Z");
        expect(JSON.stringify(twice)).toBe(JSON.stringify(once));
      }),
      { numRuns: 1000 },
    );
  });

  it("what the builder makes of it is what the guard accepts", () => {
    fc.assert(
      fc.property(envelopeText, state, envelopeText, (text, slice, goal) => {
        const untrusted = [{ source: "tool:Read:t1", text }];
        const task = `do this part: ${goal}`.slice(0, 500);
        const constraints = [`keep to ${goal}`];
        const request = aRequest({ task, constraints, untrusted, state: { slice, source: "L0:state:s" } });
        const built = buildPayload(request);
        // The three known members have types of their own.
        if (!built.ok) expect(formatProblems(built.problems)).toMatch(/^state_slice\./);
        if (!built.ok) return;
        const { payload } = built;
        const call = buildAgentCall({
          payload,
          role: request.role,
          pluginName: "p",
          untrusted,
          wrappedAt: WRAPPED_AT,
        });
        const { prompt } = call.agentInput;
        const found = findBlock(prompt);
        if (found.kind !== "one") throw new Error(found.kind);
        expect(checkGivenPayload(found.json, prompt, found)).toMatchObject({ ok: true });
        expect(payload.untrusted_inputs?.length).toBeGreaterThan(0);
      }),
      { numRuns: 1000 },
    );
  });
});
