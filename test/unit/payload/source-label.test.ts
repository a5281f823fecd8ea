import { describe, expect, it } from "vitest";
import { isSourceLabel, isStateLabel, stateLabel } from "../../../src/payload/source-label.ts";

describe("a source label", () => {
  it.each([
    "L0:issue 12",
    "L0:https://example.org/a?b=c",
    "L2:CLAUDE.md",
    "L4:memory/MEMORY.md",
    "L2:設計.md",
    "tool:WebFetch:toolu_01abc",
    "tool:mcp__docs__search:7",
    "subagent:db-engineer:wf-20260427-abc123-spawn-001",
    `L0:${"x".repeat(197)}`,
  ])("may be %j", (label) => {
    expect(isSourceLabel(label)).toBe(true);
  });

  it.each([
    "",
    "page",
    "L0",
    "L0:",
    "L0: ",
    "L0: x",
    "L0:x ",
    "L1:x",
    "L3:x",
    "l0:x",
    " L0:x",
    "L0:a\nb",
    "L0:a\u2028b",
    "L0:a\u0000",
    "L0:\ud800",
    `L0:${"x".repeat(198)}`,
    "tool:WebFetch",
    "tool:WebFetch:",
    "tool::t1",
    "tool:Web Fetch:t1",
    "tool:WebFetch:a b",
    "subagent:db-engineer",
    "subagent:db-engineer:",
    "subagent:db-engineer:last",
    "subagent::wf-20260427-abc123-spawn-001",
    "system:prompt",
    "__proto__",
  ])("is not %j", (label) => {
    expect(isSourceLabel(label)).toBe(false);
  });

  it("of a state slice names its file, as far as a label can", () => {
    expect(stateLabel("a b/state.json")).toBe("L0:state:a b/state.json");
    for (const path of ["a\nb", "x".repeat(500), "x "]) expect(stateLabel(path)).toBe("L0:state:file");
    expect([isStateLabel(stateLabel("\n")), isStateLabel("L0:statement")]).toEqual([true, false]);
  });
});
