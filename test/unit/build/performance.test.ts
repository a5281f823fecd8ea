import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import type { Results } from "../../../bench/measure.ts";
import { ROWS, STORM } from "../../../bench/rows.ts";
import { between, table } from "../../../bench/table.ts";

const PAGE = readFileSync("docs/performance.md", "utf8");
const TABLE = /<!-- bench -->\n([\s\S]*?)\n<!-- \/bench -->/.exec(PAGE)?.[1] ?? "";

/** The cells of the rows of the page's table. */
const cells = TABLE.split("\n")
  .filter((line) => line.startsWith("| ") && !line.startsWith("| |"))
  .map((line) => line.slice(2, -2).split(" | "));

describe("docs/performance.md", () => {
  it("has every row that is measured, with the bound that it is held to, and no other", () => {
    const shown = cells.map(([what, against, , bound = ""]) => [what, against, bound.trim()]);
    expect(shown).toEqual(ROWS.map(({ what, against, bound }) => [what, against, String(bound ?? "")]));
  });

  it("has a figure in every cell", () => {
    for (const [what, , ratio, , ...costs] of cells) {
      expect(costs, what).toHaveLength(5);
      expect(ratio, what).toMatch(/^\d+\.\d\d$/);
      for (const cost of costs) expect(cost, what).toMatch(/^(\d+\.\d|not countable here)$/);
    }
  });

  it("names the machine, the day, the rounds, memory, instructions and the storm", () => {
    expect(TABLE).toMatch(/^.+, \d+ cores, .* Node v\d+.*; \d{4}-\d\d-\d\d; \d+ rounds; load at the start /);
    expect(TABLE).toMatch(/Memory at most, in MB: node \d+, spawn decision \d+/);
    expect(TABLE).toMatch(/Instructions: (not countable here|node \d+)/);
    expect(TABLE).toContain(`Storm of ${STORM.decisions} spawn decisions from ${STORM.sessions} sessions`);
  });
});

describe("the bounds", () => {
  it("are the design's", () => {
    const bounds = Object.fromEntries(ROWS.map(({ id, bound }) => [id, bound]));
    expect(bounds).toMatchObject({ spawn: 1.2, metered: 1.15, main: 0.15, many: 1.1, large: 1.1, build: 2 });
  });
});

describe("a table that is written", () => {
  const cost = { wall: 10, p95: 12, cpu: null };
  const results: Results = {
    rows: ROWS.map(({ id }) => ({ id, ratio: 1.5, cost, base: cost })),
    memory: { node: 1, spawn: 2, metered: 3, firstRead: 4 },
    instructions: null,
    storm: { p50: 1, p95: 2, p99: 3, perSecond: 4, late: 0 },
  };
  const about = { rounds: 3, date: "2026-01-01", load: 0 };

  it("says of what cannot be counted that it cannot", () => {
    expect(table(results, about)).toContain(
      "| 10.0 | 12.0 | 10.0 | not countable here | not countable here |",
    );
    expect(table(results, about)).toContain("Instructions: not countable here");
  });

  it("misses no row", () => {
    expect(() => table({ ...results, rows: results.rows.slice(1) }, about)).toThrow("spawn was not measured");
  });

  it("replaces the one before, and nothing else", () => {
    const page = "a\n<!-- bench -->\nold\n<!-- /bench -->\nb\n";
    expect(between(page, "$1 new")).toBe("a\n<!-- bench -->\n$1 new\n<!-- /bench -->\nb\n");
    expect(() => between("no marks", "x")).toThrow("docs/performance.md has no");
  });
});
