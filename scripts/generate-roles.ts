import { readFileSync, writeFileSync } from "node:fs";
import { checksum } from "../src/ledger/checksum.ts";
import { readAgentFolder } from "../src/roles/agent-folder.ts";

/**
 * Writes what the plugin's own agent files say into a module, so that a hook needs no YAML parser for them. Each
 * comes with its file's checksum: an edited file is read anew.
 */
export function generateRoles(): void {
  const { roles, problems } = readAgentFolder("plugin/agents", "plugin");
  const errors = problems.filter((problem) => problem.severity === "error");
  if (errors.length > 0) throw new Error(errors.map(({ file, message }) => `${file}: ${message}`).join("\n"));
  const entries = [...roles.values()].map(({ role, file }) => ({
    role,
    checksum: checksum(readFileSync(file, "utf8")),
  }));
  writeFileSync(
    "src/roles/plugin-roles.generated.js",
    `export const PLUGIN_ROLES = ${JSON.stringify(entries, null, 1)};\n`,
  );
}
