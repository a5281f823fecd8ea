import { describe, expect, it } from "vitest";
import { walkLineage } from "../../../src/guard/lineage.ts";
import type { SpawnRecord } from "../../../src/ledger/spawn-record.ts";
import { deepFreeze, payload, record } from "./spawn-states.ts";

function spawn(trace: string, parent: string | null, depth: number, members: Partial<SpawnRecord> = {}) {
  return record({
    trace,
    parent,
    depth,
    payload: payload({ trace_id: trace, parent_trace_id: parent }),
    ...members,
  });
}

function walk(spawns: SpawnRecord[], baseDepth = 0) {
  const [start] = spawns;
  if (start === undefined) throw new Error("a walk needs a start");
  const ledger = new Map(spawns.map((one) => [one.trace, deepFreeze(one)]));
  return walkLineage(start, (trace) => ledger.get(trace) ?? null, baseDepth);
}

describe("a chain that can be believed", () => {
  it.each([
    ["a spawn of the main thread", [spawn("w1", null, 1)], 0],
    ["three levels", [spawn("w3", "w2", 3), spawn("w2", "w1", 2), spawn("w1", null, 1)], 0],
    ["a session inside another's shell", [spawn("w2", "w1", 4), spawn("w1", null, 3)], 2],
    [
      "a payload that leaves its root's parent out",
      [spawn("w1", null, 1, { payload: payload({ trace_id: "w1" }) })],
      0,
    ],
    ["a parent that has ended", [spawn("w2", "w1", 2), spawn("w1", null, 1, { phase: "ended" })], 0],
  ])("%s", (_, spawns, baseDepth) => {
    expect(walk(spawns, baseDepth)).toEqual({ known: true });
  });
});

describe("a chain that cannot be believed", () => {
  const rows: [string, SpawnRecord[], string][] = [
    ["a missing link", [spawn("w3", "w2", 3), spawn("w2", "w1", 2)], "w1 is not in this session's ledger"],
    ["its own parent", [spawn("w1", "w1", 1)], "w1 stands at depth 1 below one at depth 1"],
    ["a ring", [spawn("w1", "w2", 2), spawn("w2", "w1", 1)], "w2 stands at depth 1 below one at depth 2"],
    [
      "a ring at a depth that steps by nothing",
      [spawn("w1", "w2", Number.POSITIVE_INFINITY), spawn("w2", "w1", Number.POSITIVE_INFINITY)],
      "w1 is its own ancestor",
    ],
    [
      "a step of two",
      [spawn("w2", "w1", 3), spawn("w1", null, 1)],
      "w2 stands at depth 3 below one at depth 1",
    ],
    ["a step of none", [spawn("w2", "w1", 1), spawn("w1", null, 1)], "w2 stands at depth 1"],
    ["a step upwards", [spawn("w2", "w1", 1), spawn("w1", null, 2)], "w2 stands at depth 1"],
    ["a root too deep", [spawn("w1", null, 2)], "w1 has no parent but stands at depth 2"],
    ["a root at the main thread's depth", [spawn("w1", null, 0)], "stands at depth 0"],
    ["a depth below zero (case 70)", [spawn("w1", null, -50)], "stands at depth -50"],
    ["a depth that is none (case 70)", [spawn("w1", null, Number.NaN)], "stands at depth NaN"],
    [
      "doubt about itself",
      [spawn("w1", null, 1, { doubt: "its record was damaged" })],
      "w1: its record was damaged",
    ],
    [
      "doubt about an ancestor",
      [spawn("w2", "w1", 2), spawn("w1", null, 1, { doubt: "two candidates" })],
      "w1: two candidates",
    ],
    [
      "a payload that names another parent",
      [
        spawn("w2", "w1", 2, { payload: payload({ trace_id: "w2", parent_trace_id: "w9" }) }),
        spawn("w1", null, 1),
      ],
      "w2 and its payload name different parents",
    ],
    [
      "a payload that names none",
      [
        spawn("w2", "w1", 2, { payload: payload({ trace_id: "w2", parent_trace_id: null }) }),
        spawn("w1", null, 1),
      ],
      "w2 and its payload name different parents",
    ],
    [
      "a root whose payload names a parent",
      [spawn("w1", null, 1, { payload: payload({ trace_id: "w1", parent_trace_id: "w9" }) })],
      "different parents",
    ],
  ];
  it.each(rows)("has %s", (_, spawns, why) => {
    expect(walk(spawns)).toEqual({ known: false, why: expect.stringContaining(why) });
  });

  it.each([
    [0, 2],
    [2, 1],
  ])("has its root elsewhere: the main thread at %i, the root at %i", (baseDepth, depth) => {
    expect(walk([spawn("w1", null, depth)], baseDepth)).toMatchObject({ known: false });
  });
});

describe("a spawn that was merged into another", () => {
  it("is walked as what it became", () => {
    const became = spawn("w1", null, 1);
    const ledger = new Map([["guess", became]]);
    const child = spawn("w2", "guess", 2);
    expect(walkLineage(child, (trace) => ledger.get(trace) ?? null, 0)).toEqual({ known: true });
  });
});
