import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { formatTraceId, isTraceId, TRACE_ID_PATTERN, traceDate } from "../../../src/payload/trace-id.ts";

describe("trace ids", () => {
  it.each([
    [0, "wf-20260427-abc123-spawn-000"],
    [1, "wf-20260427-abc123-spawn-001"],
    [999, "wf-20260427-abc123-spawn-999"],
    [1000, "wf-20260427-abc123-spawn-1000"],
  ])("number %i with at least three digits", (seq, id) => {
    expect(formatTraceId({ date: "20260427", run: "abc123", seq })).toBe(id);
    expect(isTraceId(id)).toBe(true);
  });

  it.each([
    { date: "2026-04-27", run: "abc123", seq: 1 },
    { date: "20260427", run: "ABC123", seq: 1 },
    { date: "20260427", run: "abc12", seq: 1 },
    { date: "20260427", run: "abc123", seq: -1 },
    { date: "20260427", run: "abc123", seq: 1.5 },
    { date: "20260427", run: "abc123", seq: Number.NaN },
  ])("are never made of %j", (parts) => {
    expect(() => formatTraceId(parts)).toThrow(RangeError);
  });

  it.each([undefined, null, 1, {}, "", "wf-1-spawn-1\n"])("%j is none", (value) => {
    expect(isTraceId(value)).toBe(false);
  });

  it("carry the day in UTC", () => {
    expect(traceDate(new Date("2026-04-27T23:59:59.999Z"))).toBe("20260427");
    expect(traceDate(new Date("2026-04-28T01:30:00+02:00"))).toBe("20260427");
  });

  it("have one pattern, in the code and in both schemas", () => {
    for (const name of ["spawn-payload", "return-contract"]) {
      const url = new URL(`../../../plugin/schemas/${name}.schema.json`, import.meta.url);
      expect(JSON.parse(readFileSync(url, "utf8")).properties.trace_id.pattern).toBe(TRACE_ID_PATTERN.source);
    }
  });
});
