import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { fillTables, protocolFiles } from "../../../scripts/generate-protocols.ts";
import { protocolTables } from "../../../scripts/protocol-tables.ts";
import { findContract, judgeContract } from "../../../src/guard/contract.ts";
import { outcomeLine } from "../../../src/guard/outcome-line.ts";
import { asEnvelopeText } from "../../../src/payload/inert-text.ts";
import { CONTRACT_STATUSES } from "../../../src/payload/return-contract.ts";
import { isSourceLabel, SOURCE_FORM } from "../../../src/payload/source-label.ts";
import { checkContract } from "../../../src/payload/validate.ts";
import { BUILTIN_ROLES } from "../../../src/roles/builtin-roles.ts";
import { PLUGIN_ROLES } from "../../../src/roles/plugin-roles.generated.js";
import { defaultBudget } from "../../../src/roles/role-budget.ts";
import { readProtocol, WRITTEN } from "../../support/protocol-texts.ts";
import { metered, NOW, payload, record } from "../guard/spawn-states.ts";

const TABLES = protocolTables();
const [ISOLATION, UNTRUSTED, PATTERN, CONTRACT] = WRITTEN.map(readProtocol);
if (!ISOLATION || !UNTRUSTED || !PATTERN || !CONTRACT) throw new Error("a protocol is missing");

const codesIn = (cell: string | undefined) =>
  [...(cell ?? "").matchAll(/`([^`]+)`/g)].map(([, code]) => code);

it("there are five, and the plugin has them as they are", () => {
  expect(protocolFiles().sort()).toEqual([...WRITTEN, "role-selection-table.md"].sort());
  for (const file of protocolFiles())
    expect(readFileSync(`plugin/team-protocols/${file}`, "utf8")).toBe(
      readFileSync(`team-protocols/${file}`, "utf8"),
    );
});

it("README leads to each of them", () => {
  const links = [...readFileSync("README.md", "utf8").matchAll(/^- \[[^\]]+\]\(team-protocols\/([^)]+)\)/gm)];
  expect(links.map(([, file]) => file).sort()).toEqual(protocolFiles().sort());
});

describe.each(WRITTEN.map(readProtocol))("$file", ({ text }) => {
  it("is 40 to 90 lines long", () => {
    expect(text.split("\n").length).toBeGreaterThanOrEqual(40);
    expect(text.split("\n").length).toBeLessThanOrEqual(90);
  });

  it("links to files that are there", () => {
    const links = [...text.matchAll(/\]\(([^)]+)\)/g)].map(([, link]) => link);
    expect(links.filter((link) => !existsSync(`plugin/team-protocols/${link}`))).toEqual([]);
  });

  it("shows its tables as the code makes them", () => {
    expect(fillTables(text, TABLES)).toBe(text);
  });
});

it("every table that is made stands in one protocol", () => {
  const shown = WRITTEN.flatMap((file) => [...readProtocol(file).text.matchAll(/<!-- table ([a-z-]+) -->/g)]);
  expect(shown.map(([, name]) => name).sort()).toEqual(Object.keys(TABLES).sort());
});

it("a table is put in place of what stands under its marker, and nothing else is", () => {
  const made = "before\n\n<!-- table x -->\n| new |\n\n| kept |\n\n<!-- table y -->\n| y |\n";
  for (const old of ["", "| old |\n", "| old |\n|---|\n"]) {
    const text = `before\n\n<!-- table x -->\n${old}\n| kept |\n\n<!-- table y -->\n${old}`;
    expect(fillTables(text, { x: "| new |", y: "| y |" })).toBe(made);
  }
  expect(() => fillTables("<!-- table z -->\n", {})).toThrow("there is no table z");
});

describe("the budgets in spawn-pattern.md", () => {
  const roles = [...PLUGIN_ROLES.map(({ role }) => role), ...BUILTIN_ROLES];

  it.each(roles)("are in one row for $name, with what a spawn of it gets", (role) => {
    const rows = PATTERN.rows.filter(([, names]) => names?.split(", ").includes(role.name));
    const { max_input_tokens, max_tool_calls, timeout_ms, retry_budget } = defaultBudget(role);
    expect(rows).toHaveLength(1);
    expect(rows[0]?.slice(2, 5)).toEqual([max_input_tokens, max_tool_calls, timeout_ms].map(String));
    expect(rows[0]?.at(-1)).toBe(String(retry_budget));
  });
});

describe("labels in untrusted-content-wrapping.md", () => {
  const forms = UNTRUSTED.rows.filter(([form]) => form?.includes(":<"));

  it("have the forms that the guard knows", () => {
    const known = SOURCE_FORM.match(/(?:L\d|tool|subagent):<[^>]*>(?::<[^>]*>)?/g);
    expect(forms.map(([form]) => codesIn(form)[0])).toEqual(known);
  });

  it.each(forms)("of the form %s are such as %s", (form, example) => {
    const [label = ""] = codesIn(example);
    expect(isSourceLabel(label)).toBe(true);
    expect(label.split(":")[0]).toBe(codesIn(form)[0]?.split(":")[0]);
  });
});

it("what untrusted-content-wrapping.md says is an entity inside is one", () => {
  const [, signs = ""] = /Inside, every (.*?) is an entity/.exec(UNTRUSTED.text) ?? [];
  expect(codesIn(signs)).toEqual(["<", ">", "&"]);
  for (const sign of [...codesIn(signs), "\uff1c", "\ufe65"])
    expect(asEnvelopeText(sign ?? "")).toMatch(/^&[^<>&]+;$/);
});

describe("return-contract.md", () => {
  it("says what to do with each status there is, once", () => {
    const [, statuses = ""] = CONTRACT.text.split("## Statuses");
    const rows = [...statuses.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, status = ""]) => status);
    expect(rows.sort()).toEqual([...CONTRACT_STATUSES].sort());
  });

  const [message, line] = CONTRACT.fences.map(({ text }) => text);
  const trace = "wf-20260427-abc123-spawn-001";
  const budget = defaultBudget(roleOf("db-engineer"));
  const spawn = record({
    trace,
    role: "db-engineer",
    payload: payload({ trace_id: trace, budget }),
    meter: metered(41_200, 1830, { toolCalls: 17, turns: 12, ranMs: 404_000 }),
    phase: "ended",
    outcome: "completed",
  });

  it("shows a contract that counts, at the end of a message that fits", () => {
    const found = findContract(message ?? "");
    expect(checkContract(found !== null && "json" in found ? found.json : null)).toMatchObject({ ok: true });
    expect(message).toMatch(/<\/return_contract>\n$/);
    expect((message?.length ?? 0) / 4).toBeLessThan(budget.max_output_tokens);
    const judged = judgeContract(spawn, message ?? "", checkContract);
    expect(judged).toMatchObject({ state: "valid", status: "ok", problem: null });
  });

  it("shows the line that a caller gets for it", () => {
    const contract = judgeContract(spawn, message ?? "", checkContract);
    expect(`${outcomeLine({ ...spawn, contract }, 0, NOW)}\n`).toBe(line);
  });
});

function roleOf(name: string) {
  const entry = PLUGIN_ROLES.find(({ role }) => role.name === name);
  if (entry === undefined) throw new Error(`${name} is no role`);
  return entry.role;
}
