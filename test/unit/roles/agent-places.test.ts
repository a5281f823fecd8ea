import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { agentPlaces } from "../../../src/roles/agent-places.ts";

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), "places-"));
  mkdirSync(join(root, "home/repo/part/deep"), { recursive: true });
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

function places(start: string, config = join(root, "home/.claude")) {
  return agentPlaces(join(root, start), config, join(root, "home")).map(
    ({ folder, origin }) => `${origin} ${folder.slice(root.length + 1)}`,
  );
}

it("are those from the session's folder up to the repository's root, then the user's", () => {
  mkdirSync(join(root, "home/repo/.git"));
  expect(places("home/repo/part/deep")).toEqual([
    "project home/repo/part/deep/.claude/agents",
    "project home/repo/part/.claude/agents",
    "project home/repo/.claude/agents",
    "user home/.claude/agents",
  ]);
});

it("end below the home folder where there is no repository", () => {
  expect(places("home/repo/part")).toEqual([
    "project home/repo/part/.claude/agents",
    "project home/repo/.claude/agents",
    "user home/.claude/agents",
  ]);
});

it("take the user's folder for no project's, even in the home folder", () => {
  expect(places("home")).toContain("user home/.claude/agents");
  expect(places("home").filter((place) => place.endsWith("home/.claude/agents"))).toHaveLength(1);
});
