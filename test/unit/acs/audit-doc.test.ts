import { readFileSync } from "node:fs";
import { expect, it } from "vitest";
import { auditFolder } from "../../../src/acs/audit-folder.ts";
import { INTENT_DERIVATIONS } from "../../../src/guard/intent.ts";
import { REASON_CODES } from "../../../src/guard/reasons.ts";
import { AUDIT_KEY_VARIABLE } from "../../../src/policy/load-policy.ts";
import { POLICY_KEYS } from "../../../src/policy/policy-keys.ts";

const DOC = readFileSync("docs/audit.md", "utf8");

/** The first cells of the table under a heading. */
function rowsUnder(heading: string): string[] {
  const section = DOC.split(`## ${heading}\n`)[1]?.split("\n## ")[0] ?? "";
  return [...section.matchAll(/^\| (\w+) \|/gm)].map((match) => match[1] ?? "").slice(1);
}

it("names the derivations that there are", () => {
  expect(rowsUnder("Intent")).toEqual([...INTENT_DERIVATIONS]);
});

it("names policy keys, reason codes and places that there are", () => {
  for (const key of ["session_intent", "audit_content", "audit_key_file", "audit"]) {
    expect(POLICY_KEYS).toContain(key);
    expect(DOC).toContain(`\`${key}\``);
  }
  for (const code of ["intent_exceeded", "not_recorded"]) {
    expect(REASON_CODES).toContain(code);
    expect(DOC).toContain(`\`${code}\``);
  }
  expect(DOC).toContain(`\`${AUDIT_KEY_VARIABLE}\``);
  expect(DOC).toContain(`\`${auditFolder("CLAUDE_PLUGIN_DATA", "ID").replace("ID", "<session id>")}/\``);
});
