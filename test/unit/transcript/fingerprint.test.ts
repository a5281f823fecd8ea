import { describe, expect, it } from "vitest";
import {
  FINGERPRINT,
  fingerprint,
  hasFingerprint,
  isFingerprints,
} from "../../../src/transcript/fingerprint.ts";

describe("fingerprints", () => {
  it("tell a hundred thousand ids apart", () => {
    const all = new Set(Array.from({ length: 100_000 }, (_, at) => fingerprint(`msg_01${at}`)));
    expect(all.size).toBe(100_000);
    expect([...all].every((one) => one.length === FINGERPRINT && isFingerprints(one, 1))).toBe(true);
  });

  it("are found in a set where they stand, not across two of them", () => {
    const set = ["aaaaaaab", "bbbbbbbb", "abbbbbbb"];
    const found = (one: string) => hasFingerprint(set.join(""), one);
    expect(set.map(found)).toEqual([true, true, true]);
    expect(["aaaaaabb", "bbbbbbba", "cccccccc"].map(found)).toEqual([false, false, false]);
  });

  it.each([["aaaaaaa"], ["aaaaaaaA"], ["aaaaaaaabbbbbbbbcccccccc"], [null], [7]])("are not %j", (value) => {
    expect(isFingerprints(value, 2)).toBe(false);
  });
});
