import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join, resolve } from "node:path";
import fc from "fast-check";
import { afterAll, describe, expect, it } from "vitest";
import { fileKey } from "../../../src/ledger/files.ts";

const root = mkdtempSync(join(tmpdir(), "spawn-guard-key-"));
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Any text that JSON can bring, halves of surrogate pairs included, and the ones that paths are made of. */
const id = fc.oneof(
  fc.string({ unit: "binary", minLength: 1, maxLength: 40 }),
  fc
    .array(fc.integer({ min: 0, max: 0xffff }), { minLength: 1, maxLength: 20 })
    .map((codes) => String.fromCharCode(...codes)),
  fc
    .array(
      fc.constantFrom("..", ".", "/", "\\", "~", "%", "%2e", ":", "\0", "\n", "a", "C:", "-", "_", " "),
      {
        minLength: 1,
        maxLength: 8,
      },
    )
    .map((parts) => parts.join("")),
);

describe("the file key of an id", () => {
  it("names a file in its folder, whatever the id", () => {
    fc.assert(
      fc.property(id, (text) => {
        const key = fileKey(text);
        expect(key).toMatch(/^[A-Za-z0-9_%-]+$/);
        expect(basename(key)).toBe(key);
        expect(resolve(root, key)).toBe(join(root, key));
      }),
    );
  });

  it("can be written and listed as it is", () => {
    fc.assert(
      fc.property(id, (text) => {
        const key = fileKey(text);
        writeFileSync(join(root, key), "");
        expect(readdirSync(root)).toContain(key);
      }),
      { numRuns: 50 },
    );
  });

  it("is another one for another id", () => {
    fc.assert(
      fc.property(id, id, (one, other) => {
        expect(fileKey(one) === fileKey(other)).toBe(one === other);
      }),
      {
        numRuns: 1000,
        examples: [
          ["\ud800", "\ud801"],
          ["\ud800", "\ufffd"],
          ["%2e", "."],
          ["a", "a "],
        ],
      },
    );
  });

  it.each([
    ["an empty id", ""],
    ["201 characters", "a".repeat(201)],
    ["characters that become more than 200", "é".repeat(34)],
  ])("is refused for %s", (_, text) => {
    expect(() => fileKey(text)).toThrow(RangeError);
  });
});
