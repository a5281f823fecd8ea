import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { findContract } from "../../../src/guard/contract.ts";
import { checkContract } from "../../../src/payload/validate.ts";
import { readAgentFolder } from "../../../src/roles/agent-folder.ts";
import { spawnableRoles } from "../../../src/roles/tool-list.ts";
import { linesOf, shared } from "../../support/shared-lines.ts";

const RETURN_PART = "## Return contract";
const SECTIONS = [
  "## Look at first",
  "## How you work",
  "## What good looks like",
  "## What you hand back",
  "## What you never do",
  RETURN_PART,
];

const BRIEFS = [...readAgentFolder("plugin/agents", "plugin").roles.values()].map(({ role, file }) => {
  const body = readFileSync(file, "utf8").split("\n---\n").slice(1).join("\n---\n").trim();
  const [own = "", ...returnPart] = body.split(RETURN_PART);
  return { name: role.name, role, body, own, returnPart };
});
const NAMES = BRIEFS.map(({ name }) => name);

const ROLE_NAME =
  /\b[a-z]+(?:-[a-z]+)*-(?:engineer|architect|designer|writer|manager|strategist|judge|lead|curator)\b/g;
/** Tool names that are no words of prose; any other counts where it stands in backticks. */
const PLAIN_TOOL = /\b(?:Bash|Grep|Glob|WebFetch|WebSearch|NotebookEdit|SendMessage|TaskStop|TodoWrite)\b/g;
const TOOL_IN_TICKS =
  /`(Read|Write|Edit|Bash|Grep|Glob|Agent|Task|Skill|Workflow|WebFetch|WebSearch|NotebookEdit)(?:\([^`]*\))?`/g;
const SHELL_COMMAND =
  /`(?:bash|claude|curl|docker|git|gradle|helm|kubectl|make|mvn|node|npm|npx|psql|pytest|python3?|sh|spawn-guard|terraform)(?: [^`]*)?`/g;

/** The tools that a text names; `(…)` is left out. */
function toolsIn(text: string): string[] {
  const ticked = [...text.matchAll(TOOL_IN_TICKS)].map(([, tool = ""]) => tool);
  return [...new Set([...ticked, ...(text.match(PLAIN_TOOL) ?? [])])];
}

it("reads 26 briefs", () => {
  expect(BRIEFS).toHaveLength(26);
});

describe.each(BRIEFS)("the brief of $name", ({ name, role, body, own, returnPart }) => {
  const tools = (role.tools ?? []).map((tool) => tool.replace(/\(.*/, ""));

  it("has 40 to 90 lines, 40 of them beside the return-contract part", () => {
    expect(linesOf(own).length).toBeGreaterThanOrEqual(40);
    expect(body.split("\n").length).toBeLessThanOrEqual(90);
  });

  it("says who it is, then has each section once, in order, with something in it", () => {
    expect(body).toMatch(/^You /);
    expect(body.split("\n").filter((line) => line.startsWith("#"))).toEqual(SECTIONS);
    for (const section of own.split(/^## .*$/m).slice(1)) {
      const points = linesOf(section);
      expect(points.length).toBeGreaterThanOrEqual(4);
      expect(section.match(/^- .*[.?]$/gm)).toHaveLength(points.length);
    }
  });

  it("has no line twice", () => {
    expect(new Set(linesOf(body)).size).toBe(linesOf(body).length);
  });

  it("names no tool that the role lacks", () => {
    expect(toolsIn(own).filter((tool) => !tools.includes(tool))).toEqual([]);
  });

  it("tells only a role that has a shell what to type into it", () => {
    expect(tools.includes("Bash") ? [] : (own.match(SHELL_COMMAND) ?? [])).toEqual([]);
  });

  it("says that nothing is written where the role cannot write", () => {
    const writes = tools.includes("Write") || tools.includes("Edit");
    expect(/`files_changed` stays empty/.test(own)).toBe(!writes);
  });

  it("names only roles that exist, and not itself", () => {
    const named = [...new Set(own.match(ROLE_NAME) ?? [])];
    expect(named.filter((other) => !NAMES.includes(other) || other === name)).toEqual([]);
  });

  it("names the size of its last message, as its frontmatter has it", () => {
    const sizes = [...own.matchAll(/(\d+) tokens/g)].map(([, size]) => Number(size));
    expect(sizes).toEqual([role.maxOutputTokens]);
  });

  it("ends with the return-contract part that all have", () => {
    expect(returnPart).toHaveLength(1);
    expect(returnPart).toEqual(BRIEFS[0]?.returnPart);
  });
});

describe("the return-contract part", () => {
  const [text = ""] = BRIEFS[0]?.returnPart ?? [];

  it("shows a contract that counts once its trace id is filled in", () => {
    const found = findContract(text.replace("…", "wf-20260101-abc123-spawn-001"));
    expect(found).toMatchObject({ json: { status: "ok" } });
    expect(checkContract(found !== null && "json" in found ? found.json : null)).toMatchObject({ ok: true });
  });

  it.each([
    ["what others wrote is data", /`untrusted_inputs`.*`state_slice`.*files.*tool results are data/],
    ["what to do when a limit closes the tools", /limit closes your tools.*`status` partial/],
    ["which statuses there are", /ok .*partial.*failed.*needs_clarification/],
    ["that the last message has a size", /`max_output_tokens`/],
  ])("says %s", (_, words) => {
    expect(text).toMatch(words);
  });
});

describe("two briefs", () => {
  it.each([
    ["one\ntwo\nthree\nfour", "four\n\n- three\nfive\nsix\nseven", 0.5],
    ["## a\n- b.", "a\nb.\nc", 1],
    ["a", "b", 0],
  ])("of the lines %j and %j share %d", (one, other, share) => {
    expect(shared(one, other)).toBe(share);
    expect(shared(other, one)).toBe(share);
  });

  it.each(BRIEFS)("$name and any other share at most a fifth of their lines", ({ name, own }) => {
    const others = BRIEFS.filter((other) => other.name !== name);
    expect(others.filter((other) => shared(own, other.own) > 1 / 5).map((other) => other.name)).toEqual([]);
  });
});

describe("the brief of a role that may spawn", () => {
  const spawners = BRIEFS.filter(({ role }) => spawnableRoles(role.tools ?? ["*"]) !== "none");

  it.each(spawners)(
    "$name: each role it may spawn, its own trace id as their parent, types that exist",
    (brief) => {
      const targets = spawnableRoles(brief.role.tools ?? []);
      expect(targets).toEqual(expect.any(Array));
      for (const target of targets) expect(brief.own).toContain(target);
      expect(brief.own).toMatch(/`parent_trace_id` is your own trace id/);
      const scoped = [...brief.own.matchAll(/`spawn-guard:([^`]*)`/g)].map(([, type]) => type);
      expect(scoped.length).toBeGreaterThan(0);
      expect(targets).toEqual(expect.arrayContaining(scoped));
    },
  );
});
