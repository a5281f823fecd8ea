import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { readFrontmatter } from "../../src/roles/frontmatter.ts";

export type AlwaysOnText = { kind: "agent" | "skill"; name: string; text: string };

/** What every session pays for each agent and skill of a plugin, whether it is used or not: when to use it. */
export function alwaysOnTexts(plugin: string): AlwaysOnText[] {
  const agents = readdirSync(join(plugin, "agents")).map((file) =>
    read("agent", join(plugin, "agents", file)),
  );
  const folders = readdirSync(join(plugin, "skills")).map((name) => join(plugin, "skills", name, "SKILL.md"));
  return [...agents, ...folders.filter((file) => existsSync(file)).map((file) => read("skill", file))];
}

/**
 * The tokens that the host projects for these texts, or a few more: it counts four characters a token, name and
 * separator included (test/host/always-on.test.ts holds this against the host's own figure).
 */
export function alwaysOnTokens(texts: readonly AlwaysOnText[]): number {
  return texts.reduce((sum, { name, text }) => sum + Math.ceil(`${name}: ${text}`.length / 4), 0);
}

function read(kind: AlwaysOnText["kind"], file: string): AlwaysOnText {
  const frontmatter = readFrontmatter(readFileSync(file, "utf8"));
  if (frontmatter.kind !== "read") throw new Error(`${file} has no frontmatter that can be read`);
  const field = (key: string) => {
    const value = frontmatter.fields.get(key)?.value;
    return value?.kind === "scalar" && typeof value.value === "string" ? value.value : "";
  };
  // The host takes both into its list of skills.
  const text = `${field("description")}${field("when_to_use")}`;
  return { kind, name: field("name"), text };
}
