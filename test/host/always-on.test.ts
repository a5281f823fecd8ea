import { readFileSync, rmSync } from "node:fs";
import { resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { type AlwaysOnText, alwaysOnTexts, alwaysOnTokens } from "../support/always-on-texts.ts";
import { installClaude } from "./harness/claude-program.ts";
import { pluginCommand } from "./harness/plugin-command.ts";
import { temporaryFolder } from "./harness/temporary-folder.ts";

const TEXTS = alwaysOnTexts("plugin");
const names = (kind: AlwaysOnText["kind"]) =>
  TEXTS.filter((text) => text.kind === kind).map(({ name }) => name);

const home = temporaryFolder("always-on");
let details = "";

beforeAll(() => {
  installClaude();
  const { name } = JSON.parse(readFileSync(".claude-plugin/marketplace.json", "utf8"));
  pluginCommand(home, "marketplace", "add", resolve("."));
  pluginCommand(home, "install", `spawn-guard@${name}`);
  details = pluginCommand(home, "details", "spawn-guard");
}, 300_000);
afterAll(() => rmSync(home, { recursive: true, force: true }));

/** The names in a line such as `Agents (2)  a, b`. */
function inventory(label: string): string[] {
  return new RegExp(`^ *${label} \\(\\d+\\) +(.*)$`, "m").exec(details)?.[1]?.split(", ") ?? [];
}

describe("the plugin installed from a local marketplace", () => {
  it.each([
    ["Agents", "agent"],
    ["Skills", "skill"],
  ] as const)("shows as its %s each %s of its folder", (label, kind) => {
    expect(inventory(label).sort()).toEqual(names(kind).sort());
  });

  it("costs every session at most 1500 tokens, as the unit test reckons", () => {
    const [, shown = ""] = /Always-on: +~([\d,]+) tok/.exec(details) ?? [];
    const tokens = Number(shown.replaceAll(",", ""));
    expect(tokens).toBeGreaterThan(0);
    expect(tokens).toBeLessThanOrEqual(1500);
    const reckoned = alwaysOnTokens(TEXTS);
    // The host shows a rounded figure: ~1,080 for 1079.
    expect(reckoned).toBeGreaterThanOrEqual(tokens - 5);
    expect(reckoned).toBeLessThanOrEqual(tokens * 1.05);
  });
});
