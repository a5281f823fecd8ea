import { createHash, createHmac, hkdfSync } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import type { Receipt, Request, Response } from "../../../src/acs/envelope.ts";
import { canonical, entryHash, lineHash, requestHash, seal } from "../../../src/acs/seal.ts";
import { Signer } from "../../../src/acs/signer.ts";
import { ACTOR, callStep, NO_CHAIN, receiptOf, rootStep } from "../../support/chain-steps.ts";

const sha256 = (text: string) => createHash("sha256").update(text, "utf8");

describe("the canonical form (RFC 8785)", () => {
  it.each<[number, string]>([
    [0, "0"],
    [-0, "0"],
    [5e-324, "5e-324"],
    [-1.7976931348623157e308, "-1.7976931348623157e+308"],
    [9007199254740992, "9007199254740992"],
    [295147905179352830000, "295147905179352830000"],
    [1e21, "1e+21"],
    [999999999999999900000, "999999999999999900000"],
    [1e-7, "1e-7"],
    [0.000001, "0.000001"],
    [Number("333333333.33333329"), "333333333.3333333"],
    [4.5, "4.5"],
    [2e-3, "0.002"],
    [1e30, "1e+30"],
  ])("has the number %d as ECMAScript writes it", (number, text) => {
    expect(canonical([number])).toBe(`[${text}]`);
  });

  it.each([Number.NaN, Number.POSITIVE_INFINITY, "\uD800", "\uDFFF", ["a\uD83D"]])(
    "is none for what has no bytes: %j",
    (value) => {
      expect(() => canonical(value)).toThrow();
    },
  );

  it.each<[string, unknown, string]>([
    ["literals", [null, true, false], "[null,true,false]"],
    ["no spaces", { b: [1, { a: "x y" }] }, '{"b":[1,{"a":"x y"}]}'],
    [
      "the short escapes, and \\u00xx for other controls",
      "\b\t\n\f\r\u000f\u001f",
      '"\\b\\t\\n\\f\\r\\u000f\\u001f"',
    ],
    ["letters as they are", "\u20ac$/'\u2028\u007f😀", '"\u20ac$/\'\u2028\u007f😀"'],
    ["quotes and backslashes escaped", '"\\', '"\\"\\\\"'],
    ["members sorted at every depth", { z: { b: 1, a: 2 }, a: 0 }, '{"a":0,"z":{"a":2,"b":1}}'],
  ])("has %s", (_, value, text) => {
    expect(canonical(value)).toBe(text);
  });

  it("sorts members by UTF-16 units, not by code points or languages", () => {
    const names = ["\u20ac", "\r", "\ufb33", "1", "\u{1f600}", "\u0080", "\u00f6", "A", "a"];
    const sorted = ["\r", "1", "A", "a", "\u0080", "\u00f6", "\u20ac", "\u{1f600}", "\ufb33"];
    expect(
      Object.keys(JSON.parse(canonical(Object.fromEntries(names.map((name) => [name, 0]))))).filter(
        (name) => name !== "1",
      ),
    ).toEqual(sorted.filter((name) => name !== "1"));
  });
});

describe("a receipt", () => {
  const first = receiptOf(rootStep());

  it("is hashed over its content and the raw bytes of the hash before", () => {
    const end = { entry: first.entry.entry_hash, line: first.line_hash };
    const { request, entry, response, line_hash } = receiptOf(callStep("c1"), end);
    const { entry_hash, previous_hash, ...content } = entry;
    expect(previous_hash).toBe(first.entry.entry_hash);
    expect(content.request_hash).toBe(sha256(canonical(request.params)).digest("hex"));
    const before = Buffer.from(first.entry.entry_hash, "hex");
    expect(entry_hash).toBe(sha256(canonical(content)).update(before).digest("hex"));
    expect(response.result.chain_hash).toBe(entry_hash);
    const beforeLine = Buffer.from(first.line_hash, "hex");
    expect(line_hash).toBe(sha256(canonical({ request, entry, response })).update(beforeLine).digest("hex"));
  });

  it("is written in its canonical form, and says where the chain then stands", () => {
    for (const signer of [null, new Signer(Buffer.alloc(32, 9))]) {
      const { line, end } = seal(callStep("c1"), NO_CHAIN, signer);
      const receipt: Receipt = JSON.parse(line);
      expect(canonical(receipt)).toBe(line);
      expect(end).toEqual({ entry: receipt.entry.entry_hash, line: receipt.line_hash });
      expect(lineHash(receipt, null)).toBe(receipt.line_hash);
    }
  });

  it("has nothing before it at the chain's beginning", () => {
    const { entry_hash, previous_hash, ...content } = first.entry;
    expect(previous_hash).toBeNull();
    expect(entry_hash).toBe(sha256(canonical(content)).digest("hex"));
  });

  it("is signed in both envelopes by the session's key, and hashed with its signature", () => {
    const key = Buffer.alloc(32, 9);
    const signer = new Signer(key);
    const { request, entry, response } = receiptOf(rootStep(), NO_CHAIN, signer);
    const own = Buffer.from(hkdfSync("sha256", key, "", ACTOR.session, 32));
    const { signature, ...params } = request.params;
    const input = canonical({ ...request, params });
    expect(signature?.value).toBe(createHmac("sha256", own).update(input).digest("base64"));
    expect(requestHash(request)).toBe(entry.request_hash);
    expect(signer.verifies(request, ACTOR.session) && signer.verifies(response, ACTOR.session)).toBe(true);
    expect(signer.verifies(request, `${ACTOR.session}0`)).toBe(false);
    expect(JSON.stringify(signature)).not.toContain(key.toString("hex").slice(0, 16));
  });
});

const VECTORS = process.env.ACS_VECTORS ?? "";

describe.skipIf(VECTORS === "")(
  "the standard's published vectors (skipped unless ACS_VECTORS names their folder)",
  () => {
    type Vector = {
      entry: Receipt["entry"];
      previous_hash: string | null;
      canonical_content: string;
      entry_hash: string;
    };
    type Chain = {
      request_hash: { params: Request["params"]; canonical: string; hash: string };
      chain: Vector[];
    };
    type Signed = { signed: Request | Response; signing_input: string };
    type Envelope = { ikm_hex: string; session_id: string; request: Signed; response: Signed };

    const read = (name: string) => JSON.parse(readFileSync(join(VECTORS, name), "utf8"));

    it("give the same request hash", () => {
      const { request_hash: vector }: Chain = read("chain.json");
      expect(canonical(vector.params)).toBe(vector.canonical);
      expect(requestHash({ params: vector.params } as Request)).toBe(vector.hash);
    });

    it("give the same chain", () => {
      const { chain }: Chain = read("chain.json");
      expect(chain.length).toBeGreaterThan(1);
      for (const { entry, previous_hash, canonical_content, entry_hash } of chain) {
        expect(canonical(entry)).toBe(canonical_content);
        expect(entryHash({ ...entry, previous_hash, entry_hash: "" })).toBe(entry_hash);
      }
    });

    it.each(["request", "response"] as const)("give the same signature of a %s", (name) => {
      const vectors: Envelope = read("envelope.json");
      const { signed } = vectors[name];
      const given = "params" in signed ? signed.params.signature : signed.result.signature;
      const own = new Signer(Buffer.from(vectors.ikm_hex, "hex")).sign(signed, vectors.session_id);
      expect(own.value).toBe(given?.value);
    });
  },
);
