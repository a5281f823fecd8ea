import { readFileSync, writeFileSync } from "node:fs";
import type { RoleRow } from "../src/roles/role-table.ts";

const SOURCE = "team-protocols/role-selection-table.json";
const SHOWN = "team-protocols/role-selection-table.md";

/**
 * Makes what is shown and what is run of the role-selection table: a Markdown table, and a module of two
 * constants. Hooks need the types alone, so these stand apart and the rest is left out of their bundles.
 */
export function generateRoleTable(): void {
  const rows: RoleRow[] = JSON.parse(readFileSync(SOURCE, "utf8"));
  writeFileSync(SHOWN, renderRoleTable(rows));
  const types = rows.map(({ role, type }) => [role, type]);
  writeFileSync(
    "src/roles/role-table.generated.js",
    `export const ROLE_TABLE = ${JSON.stringify(rows)};\nexport const ROLE_TYPE_ENTRIES = ${JSON.stringify(types)};\n`,
  );
}

/** The table for people and models to read. */
export function renderRoleTable(rows: readonly RoleRow[]): string {
  const lines = rows.map(({ role, type, words, also, files, ...row }) => {
    const how = [
      row.fallback === true ? "anything unmatched" : null,
      row.anyStack === true ? "works on any stack" : null,
      row.spawnOnly === true ? "spawn-only: a workflow names it, words never choose it" : null,
    ].filter((note) => note !== null);
    const cells = [role, type, words.join(", "), also.join(", "), code(files), how.join("; ")];
    return `| ${cells.join(" | ")} |`;
  });
  return `# Role-selection table

Made from role-selection-table.json by \`npm run build\`: change that file, not this one.

\`spawn-guard roles --for "<words or path>"\` reads this table and says why it chose. The longest words that stand in the text win (\`react native\` is no \`react\`); of the file patterns that match a path the longest wins. What matches nothing is software-engineer's. \`spawn-guard build --stack S\` without \`--role\` takes the role when S fits exactly one, and lists the candidates when it fits several; with \`--role\` it warns when S is another role's, unless the role works on any stack.

| Role | Type | Stack words | Also | Files | |
|---|---|---|---|---|---|
${lines.join("\n")}
`;
}

/** Patterns as code, so that a star is no markup. */
function code(patterns: readonly string[]): string {
  return patterns.map((pattern) => `\`${pattern}\``).join(", ");
}
