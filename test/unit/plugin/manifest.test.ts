import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { userConfig } from "../../../src/policy/user-config.ts";

function read(file: string): Record<string, unknown> {
  return JSON.parse(readFileSync(file, "utf8"));
}

const MANIFEST = read("plugin/.claude-plugin/plugin.json");
const MARKETPLACE = read(".claude-plugin/marketplace.json");
const PACKAGE = read("package.json");

describe("plugin.json", () => {
  it("has the package's name and version", () => {
    expect(MANIFEST).toMatchObject({
      name: PACKAGE.name,
      version: PACKAGE.version,
      license: PACKAGE.license,
    });
  });

  it("has the options that the policy table makes", () => {
    expect(MANIFEST.userConfig).toEqual(userConfig());
  });

  // The host finds these folders itself; named here, it refuses the plugin or loads its hooks twice (case 115).
  it.each(["hooks", "agents", "skills", "commands"])("does not name %s", (key) => {
    expect(MANIFEST).not.toHaveProperty(key);
  });

  it("has no member that the host does not know", () => {
    const known = [
      "name",
      "version",
      "description",
      "author",
      "homepage",
      "repository",
      "license",
      "keywords",
      "userConfig",
    ];
    expect(known).toEqual(expect.arrayContaining(Object.keys(MANIFEST)));
  });
});

describe("marketplace.json", () => {
  it("offers the plugin from its folder, and in no other version", () => {
    const [entry, ...others] = MARKETPLACE.plugins as Record<string, unknown>[];
    expect(others).toEqual([]);
    expect(entry).toMatchObject({
      name: MANIFEST.name,
      description: MANIFEST.description,
      source: "./plugin",
    });
    expect(existsSync(`${entry?.source}/.claude-plugin/plugin.json`)).toBe(true);
    expect([undefined, MANIFEST.version]).toContain(entry?.version);
  });
});

describe("the package", () => {
  it("brings along what is installed, and nothing to run at its own start", () => {
    expect(PACKAGE.files).toEqual(expect.arrayContaining(["plugin", ".claude-plugin"]));
    expect(PACKAGE).not.toHaveProperty("scripts.postinstall");
    expect(PACKAGE).not.toHaveProperty("dependencies");
    expect(PACKAGE.engines).toEqual({ node: ">=20" });
  });
});
