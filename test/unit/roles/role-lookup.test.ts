import { describe, expect, it } from "vitest";
import { BUILTIN_ROLES } from "../../../src/roles/builtin-roles.ts";
import { findRole } from "../../../src/roles/role-lookup.ts";
import { role } from "./agent-text.ts";

const plugin = ["qa-engineer", "db-engineer", "eval-judge"].map((name) => role({ name }));
const roles = [...plugin, ...BUILTIN_ROLES];

describe("findRole", () => {
  it.each(["qa-engineer", "Explore", "Plan", "general-purpose"])("%s by its exact name", (name) => {
    expect(findRole(name, roles)).toMatchObject({ kind: "found", role: { name } });
  });

  it("takes a plugin role's scoped name", () => {
    expect(findRole("spawn-guard:qa-engineer", roles)).toEqual({ kind: "found", role: plugin[0] });
  });

  it.each([
    "QA-engineer",
    "qa_engineer",
    "qaengineer",
    "qa-engineer ",
    "explore",
    "other:qa-engineer",
    "spawn-guard:Explore",
    "spawn-guard:spawn-guard:qa-engineer",
    "spawn-guard:",
    "",
    "__proto__",
  ])("%j is unknown: no spelling is guessed", (name) => {
    expect(findRole(name, roles)).toEqual({
      kind: "unknown",
      message: `role ${JSON.stringify(name)} is unknown; use one of these 6: Explore, Plan, db-engineer, eval-judge, general-purpose, qa-engineer`,
    });
  });

  it("does not take a foreign agent for the plugin's by the scoped name", () => {
    const foreign = role({ name: "data-engineer", origin: "project" });
    expect(findRole("spawn-guard:data-engineer", [foreign]).kind).toBe("unknown");
    expect(findRole("data-engineer", [foreign])).toEqual({ kind: "found", role: foreign });
  });

  it("shows a long name cut, and says when nothing is loaded", () => {
    const result = findRole("x".repeat(5000), []);
    expect(result).toMatchObject({
      kind: "unknown",
      message: expect.stringContaining("no roles are loaded"),
    });
    expect(JSON.stringify(result).length).toBeLessThan(250);
  });

  it("reads any iterable once", () => {
    expect(findRole("qa-engineer", new Set(plugin).values()).kind).toBe("found");
  });
});

describe("several roles of one name (case 88)", () => {
  const of = (...origins: ("plugin" | "builtin" | "project" | "user")[]) =>
    origins.map((origin) => role({ name: "twin", origin }));

  it.each([
    ["the project's replaces the built-in", of("builtin", "project"), "project"],
    ["the user's replaces the built-in", of("user", "builtin"), "user"],
    ["the project's comes before the user's", of("user", "project", "builtin"), "project"],
  ])("%s", (_what, twins, origin) => {
    expect(findRole("twin", twins)).toMatchObject({ kind: "found", role: { origin } });
  });

  it.each([
    ["plugin and project", of("plugin", "project"), ["spawn-guard:twin", "twin (project)"]],
    ["plugin and built-in", of("plugin", "builtin"), ["spawn-guard:twin", "twin (builtin)"]],
    ["two of the project", of("project", "project"), ["twin (project)", "twin (project)"]],
  ])("%s is ambiguous", (_what, twins, candidates) => {
    expect(findRole("twin", twins)).toEqual({ kind: "ambiguous", candidates });
  });

  it("is settled by the plugin's scope", () => {
    expect(findRole("spawn-guard:twin", of("project", "plugin"))).toMatchObject({
      kind: "found",
      role: { origin: "plugin" },
    });
  });
});

it("has three built-ins that inherit all tools and set no limits", () => {
  expect(BUILTIN_ROLES.map(({ name }) => name)).toEqual(["Explore", "Plan", "general-purpose"]);
  for (const builtin of BUILTIN_ROLES) {
    expect(builtin).toMatchObject({ origin: "builtin", tools: ["*"], maxTurns: null, maxOutputTokens: null });
  }
});
