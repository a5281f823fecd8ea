import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { renderRoleTable } from "../../../scripts/generate-role-table.ts";
import { chooseRole } from "../../../src/roles/choose-role.ts";
import { PLUGIN_ROLES } from "../../../src/roles/plugin-roles.generated.js";
import { ROLE_TYPES } from "../../../src/roles/role.ts";
import { ROLE_TABLE } from "../../../src/roles/role-table.generated.js";
import type { RoleRow } from "../../../src/roles/role-table.ts";
import { wordsOf } from "../../../src/roles/words.ts";

const rows: RoleRow[] = JSON.parse(readFileSync("team-protocols/role-selection-table.json", "utf8"));

describe("the role-selection table", () => {
  it("is shown as it is", () => {
    expect(readFileSync("team-protocols/role-selection-table.md", "utf8")).toBe(renderRoleTable(rows));
  });

  it("is run as it is", () => {
    expect(ROLE_TABLE).toEqual(rows);
  });

  it("has one row a role of the plugin, with a type that there is and nothing unknown", () => {
    expect(rows.map(({ role }) => role).sort()).toEqual(PLUGIN_ROLES.map(({ role }) => role.name).sort());
    const known = ["role", "type", "words", "also", "files", "anyStack", "spawnOnly", "fallback"];
    for (const row of rows) {
      expect(ROLE_TYPES).toContain(row.type);
      expect(Object.keys(row).filter((key) => !known.includes(key))).toEqual([]);
      expect(row.words.length).toBeGreaterThan(0);
    }
    expect(rows.filter(({ fallback }) => fallback === true).map(({ role }) => role)).toEqual([
      "software-engineer",
    ]);
    expect(rows.filter(({ spawnOnly }) => spawnOnly === true).map(({ role }) => role)).toEqual([
      "memory-curator",
    ]);
  });

  it("gives each stack word to one role; only near words are shared", () => {
    const owners = rows.flatMap(({ words }) => words.map((word) => wordsOf(word).join(" ")));
    expect(new Set(owners).size).toBe(owners.length);
  });

  const words = rows
    .filter((row) => row.spawnOnly !== true)
    .flatMap((row) => row.words.map((word) => [word, row.role]));
  it.each(words)("chooses for the stack word %s the role %s", (word, role) => {
    for (const text of [word, word.toUpperCase(), `we need ${word}, soon`])
      expect(chooseRole(text).candidates.map((candidate) => candidate.role)).toContain(role);
    expect(chooseRole(word ?? "").candidates).toMatchObject([{ role }]);
  });

  const files = rows.flatMap((row) => row.files.map((pattern) => [pattern, row.role]));
  it.each(files)("chooses for a file like %s the role %s", (pattern, role) => {
    const file = (pattern ?? "").replaceAll("y*ml", "yaml").replaceAll("*", "x1");
    for (const path of [`some/where/${file}`, `C:\\some\\where\\${file.replaceAll("/", "\\")}`]) {
      const { candidates, matched } = chooseRole(path);
      expect([path, matched]).toEqual([path, true]);
      expect(candidates.map((candidate) => candidate.role)).toContain(role);
    }
  });
});
