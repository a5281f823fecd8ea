import { copyFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

/** Where team-protocols stand, and where the build puts them: only plugin/ is installed. */
export const PROTOCOLS = "team-protocols";
export const INSTALLED = "plugin/team-protocols";

/**
 * Brings the protocols' tables up to date with the code and copies the protocols into the plugin. The tables are
 * loaded here, since they rest on modules that the build has to make first.
 */
export async function generateProtocols(): Promise<void> {
  const { protocolTables } = await import("./protocol-tables.ts");
  const tables = protocolTables();
  rmSync(INSTALLED, { recursive: true, force: true });
  mkdirSync(INSTALLED, { recursive: true });
  for (const file of protocolFiles()) {
    const path = join(PROTOCOLS, file);
    const text = readFileSync(path, "utf8");
    const filled = fillTables(text, tables);
    if (filled !== text) writeFileSync(path, filled);
    copyFileSync(path, join(INSTALLED, file));
  }
}

export function protocolFiles(): string[] {
  return readdirSync(PROTOCOLS).filter((file) => file.endsWith(".md"));
}

/** The text with the table under each `<!-- table NAME -->` replaced by that of the code. */
export function fillTables(text: string, tables: Readonly<Record<string, string>>): string {
  return text.replace(/(<!-- table ([a-z-]+) -->\n)(?:\|.*\n)*/g, (_, marker: string, name: string) => {
    const table = tables[name];
    if (table === undefined) throw new Error(`there is no table ${name}`);
    return `${marker}${table}\n`;
  });
}
