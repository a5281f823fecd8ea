import { createHash } from "node:crypto";
import { describe, expect, it } from "vitest";
import { MAX_LINE_BYTES } from "../../../src/acs/chain-files.ts";
import type { Step, Verdict } from "../../../src/acs/envelope.ts";
import { sessionStart, subagentStart, subagentStop, toolCall } from "../../../src/acs/receipts.ts";
import { canonical, seal } from "../../../src/acs/seal.ts";
import { broken } from "../../support/acs-schemas.ts";
import { ACTOR, NO_CHAIN, NOW } from "../../support/chain-steps.ts";

type Json = Record<string, unknown>;

const SIZES = [8_000, 70_000, 600_000];
/** Each character has six bytes in JSON, or stands for none. */
const WORST = ["\u0001", "\uD800", "\u20ac", '"'];
const LONG = SIZES.flatMap((size) =>
  WORST.map((character): [number, string] => [size, character.repeat(size)]),
);

const lineOf = (step: Step) => Buffer.byteLength(seal(step, NO_CHAIN, null).line);
const refused = (reasoning: string): Verdict => ({
  decision: "deny",
  codes: ["tool_not_allowed"],
  reasoning,
});

function occasion(name: string) {
  const actor = { ...ACTOR, name };
  return { actor, now: NOW, facts: { audit_gap: { missed: 3, since: NOW, why: name.slice(0, 300) } } };
}

function intent(rules: string[], text: string) {
  return {
    rules,
    banned: [text, text],
    scope: "strict" as const,
    provenance: { origin: "agent_generated" as const, source: text, derivedFrom: [ACTOR.session] },
  };
}

describe("a receipt's line is less than half of what a line may have (case 120)", () => {
  it.each(LONG)("for a call with texts of %i characters in every place", (_, text) => {
    const names = Array.from({ length: 40 }, (_, index) => `${index}${text.slice(0, 8_000)}`);
    const input = Object.fromEntries(names.map((name) => [name, text]));
    for (const content of [null, (value: object) => value]) {
      const step = toolCall(
        occasion(text),
        { tool: text, call: "c".repeat(200), input },
        refused(text),
        content,
      );
      expect(lineOf(step)).toBeLessThan(MAX_LINE_BYTES / 2);
    }
  });

  it.each(LONG)("for a spawn with rules and names of %i characters", (_, text) => {
    const rules = Array.from({ length: 1_000 }, (_, index) => `Read(./${index}/${text.slice(0, 300)})`);
    const spawn = {
      key: text,
      childSession: ACTOR.session,
      parentStep: ACTOR.session,
      derivation: "derived_from_parent" as const,
      intent: intent([...rules, text], text),
      descriptor: { agent: text, name: text, model: text },
    };
    const step = subagentStart(occasion(text), spawn, refused(text));
    expect(lineOf(step)).toBeLessThan(MAX_LINE_BYTES / 2);
    expect(broken("subagent-start", step.request.params.payload)).toEqual([]);
    const start = sessionStart(occasion(text), intent(rules, text), { cwd: text, source: text, depth: 1 });
    expect(lineOf(start)).toBeLessThan(MAX_LINE_BYTES / 2);
    expect(broken("session-start", start.request.params.payload)).toEqual([]);
  });
});

describe("what is left out of a receipt", () => {
  const hash = (text: string) => createHash("sha256").update(text, "utf8").digest("hex");

  it.each<[string, unknown, string]>([
    ["a text", "é\n", "é\n"],
    ["a text of 600 KB", "x".repeat(600_000), "x".repeat(600_000)],
    ["an object, as its JSON", { a: [1, null] }, '{"a":[1,null]}'],
    ["a number", 1.5, "1.5"],
    ["nothing", null, "null"],
    ["nothing at all", undefined, ""],
  ])("can be proven by its hash: %s", (_, value, text) => {
    const step = toolCall(occasion("x"), { tool: "T", call: "c", input: { value } }, refused("no"), null);
    expect(argument(step, "value")).toEqual({ sha256: hash(text), bytes: Buffer.byteLength(text) });
  });

  it("is counted: arguments, capabilities and content", () => {
    const input = Object.fromEntries(
      Array.from({ length: 40 }, (_, index) => [`a${index}`, "y".repeat(4_001)]),
    );
    const step = toolCall(occasion("x"), { tool: "T", call: "c", input }, refused("no"), (value) => value);
    const { payload, metadata } = step.request.params;
    expect(Object.keys(payload.arguments as Json)).toHaveLength(32);
    expect(metadata.spawn_guard).toMatchObject({ arguments: 40 });
    const contents = Object.keys(input).map((name) =>
      String((argument(step, name) as Json | undefined)?.content ?? ""),
    );
    expect(contents.map(({ length }) => length).slice(0, 5)).toEqual([4_000, 4_000, 4_000, 0, 0]);

    const rules = Array.from({ length: 300 }, (_, index) => `Read(./${index})`);
    const start = sessionStart(occasion("x"), intent([...rules, `Read(./${"z".repeat(600)})`], "Bash"), {});
    const { raw, parsed } = start.request.params.payload.intent as { raw: string; parsed: Json[] };
    expect(parsed).toHaveLength(200);
    expect(raw).toMatch(/^without Bash, Bash; 200 of 602 capabilities, sha256 of all [0-9a-f]{64}$/);
  });

  it("never is a capability cut short, which would stand for something else", () => {
    const long = `Read(./${"z".repeat(600)})`;
    const start = sessionStart(occasion("x"), intent([long, "Read(./a)"], "Bash"), {});
    expect((start.request.params.payload.intent as { parsed: Json[] }).parsed).toEqual([
      { tool: "Read", resource: "file:./a" },
      { tool: "Read", resource: "file:./a/*" },
    ]);
  });

  function argument(step: Step, name: string): unknown {
    return (step.request.params.payload.arguments as Record<string, { value: unknown }>)[name]?.value;
  }
});

describe("odd names and values", () => {
  it.each([3_000, 6_000, 20_000])("that are nested %i deep leave a receipt", (levels) => {
    let value: unknown = 1;
    for (let level = 0; level < levels; level += 1) value = [value];
    const step = toolCall(occasion("x"), { tool: "T", call: "c", input: { value } }, refused("no"), null);
    const line = seal(step, NO_CHAIN, null).line;
    expect(/"too_deep":true|"bytes":6001/.test(line)).toBe(true);
  });

  it.each(["__proto__", "constructor", "toJSON", "", "\uD800", "a\u0000b"])(
    "are kept apart from what they name elsewhere: %j",
    (name) => {
      const input: Json = JSON.parse(`{${JSON.stringify(name)}: {"toJSON": 1, "__proto__": 2}}`);
      const step = toolCall(occasion("x"), { tool: name, call: "c", input }, refused("no"), (value) => value);
      const line = seal(step, NO_CHAIN, null).line;
      expect(canonical(JSON.parse(line))).toBe(line);
      expect(Object.keys(JSON.parse(line).request.params.payload.arguments)).toHaveLength(1);
    },
  );

  it("are the same step for the same event, and another for another", () => {
    const id = (call: string, agent = ACTOR.session) => {
      const actor = { ...ACTOR, session: agent };
      return toolCall({ actor, now: NOW }, { tool: "T", call, input: {} }, refused("no"), null).request.id;
    };
    expect(id("c1")).toBe(id("c1"));
    expect(
      new Set([
        id("c1"),
        id("c2"),
        id("c1\uD800"),
        id("c1\uD801"),
        id("c1", ACTOR.session.replace("0c", "0d")),
      ]).size,
    ).toBe(5);
  });

  it("are no final hash where there is none", () => {
    const stop = {
      childSession: ACTOR.session,
      outcome: "failed" as const,
      finalHash: null,
      steps: 0,
      summary: {},
    };
    expect(Object.keys(subagentStop(occasion("x"), "k", stop).request.params.payload)).not.toContain(
      "final_chain_hash",
    );
  });
});
