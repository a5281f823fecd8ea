import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { runBuild } from "../../../src/cli/build-command.ts";
import { loadRole } from "../../../src/cli/load-role.ts";
import { parseAgentFile } from "../../../src/roles/agent-file.ts";
import { PLUGIN_ROLES } from "../../../src/roles/plugin-roles.generated.js";
import { aWorld, PLUGIN_ROOT } from "./world.ts";

let agents = "";
beforeEach(() => {
  agents = mkdtempSync(join(tmpdir(), "agents "));
});
afterEach(() => rmSync(agents, { recursive: true, force: true }));

function agentFile(file: string, ...lines: string[]): void {
  writeFileSync(join(agents, file), ["---", ...lines, "---", "Do the task.", ""].join("\n"));
}

function buildFor(role: string) {
  return runBuild(["--role", role, "--task", "look things up"], aWorld({ agentsDir: agents }));
}

describe("loadRole", () => {
  it("knows the 26 and the 3", () => {
    const names = [...PLUGIN_ROLES.map(({ role }) => role.name), "Explore", "Plan", "general-purpose"];
    expect(names).toHaveLength(29);
    for (const name of names)
      expect(loadRole(name, `${PLUGIN_ROOT}agents`)).toMatchObject({ ok: true, role: { name } });
  });

  it("gives a role of the plugin as its file says, before and after somebody edits it", () => {
    for (const file of readdirSync(`${PLUGIN_ROOT}agents`)) {
      const text = readFileSync(`${PLUGIN_ROOT}agents/${file}`, "utf8");
      const { role, problems } = parseAgentFile(text, file, "plugin");
      // The table that the build makes carries no warnings, so the plugin's files may have none.
      expect(problems).toEqual([]);
      expect(loadRole(role?.name ?? "", `${PLUGIN_ROOT}agents`)).toEqual({ ok: true, role, warnings: [] });

      writeFileSync(join(agents, file), text.replace(/^maxTurns: .*$/m, "maxTurns: 3"));
      expect(loadRole(role?.name ?? "", agents)).toEqual({
        ok: true,
        role: { ...role, maxTurns: 3 },
        warnings: [],
      });
    }
  });

  it("takes no other file's faults for the role's", () => {
    agentFile("good.md", "name: good", "description: d", "tools: Read");
    agentFile("bad.md", "name: [");
    expect(loadRole("good", agents)).toMatchObject({
      ok: true,
      role: { name: "good", tools: ["Read"] },
      warnings: [],
    });
  });

  it("refuses a name that another file gives other rights, and names both (case 88)", () => {
    agentFile("twin.md", "name: twin", "description: d", "tools: Read");
    agentFile("zz.md", "name: twin", "description: d", "tools: Read, Bash");
    const loaded = loadRole("twin", agents);
    expect(loaded.ok ? "" : loaded.problem).toMatch(
      /^the agent file of twin cannot be used; mend it:\n.*zz\.md:1: name twin is taken by .*twin\.md, /,
    );
  });

  it("takes the project's file that stands in for a built-in, as Claude Code does, and says so", () => {
    agentFile("mine.md", "name: Explore", "description: d", "tools: Read", "maxTurns: 4");
    const loaded = loadRole("Explore", `${PLUGIN_ROOT}agents`, [{ folder: agents, origin: "project" }]);
    expect(loaded).toMatchObject({
      ok: true,
      role: { name: "Explore", origin: "project", tools: ["Read"], maxTurns: 4 },
      warnings: [expect.stringMatching(/^Explore is replaced by .*mine\.md: /)],
    });
    agentFile("mine.md", "name: Explore", "description: a: b");
    expect(loadRole("Explore", `${PLUGIN_ROOT}agents`, [{ folder: agents, origin: "project" }])).toEqual({
      ok: false,
      problem: expect.stringMatching(
        /^an agent file stands in for Explore and cannot be used; mend it:\n.*mine\.md:3: /,
      ),
    });
  });

  it("says of the project's own agents that they need no builder", () => {
    agentFile("helper.md", "name: helper", "description: d", "tools: Read");
    const loaded = loadRole("helper", `${PLUGIN_ROOT}agents`, [{ folder: agents, origin: "project" }]);
    expect(loaded.ok ? "" : loaded.problem).toMatch(
      /^role "helper" is unknown\n.*helper\.md is no role of a payload; call Agent with subagent_type helper/,
    );
  });

  it("finds a role by its name where the file has another", () => {
    agentFile("file.md", "name: real", "description: d", "tools: Read");
    expect(loadRole("real", agents)).toMatchObject({ ok: true, role: { name: "real" } });
    expect(loadRole("file", agents)).toMatchObject({
      ok: false,
      problem: expect.stringContaining('role "file" is unknown'),
    });
  });

  it("refuses a role whose file is broken, and says where", () => {
    agentFile("bad.md", "name: bad", "description: a: b: c", "tools: [Read");
    const loaded = loadRole("bad", agents);
    expect(loaded.ok ? "" : loaded.problem).toMatch(
      /^the agent file of bad cannot be used; mend it:\n.*bad\.md:\d+: /,
    );
  });

  it("never makes a path of another name", () => {
    mkdirSync(join(agents, "inner"));
    agentFile("inner.md", "name: inner", "description: d", "tools: Read");
    for (const name of ["../inner", "./inner", "inner/../inner", "inner.md", "inner\0"])
      expect(loadRole(name, join(agents, "inner"))).toMatchObject({ ok: false });
  });

  it("says when the plugin has no roles at all", () => {
    expect(loadRole("good", join(agents, "none"))).toEqual({
      ok: false,
      problem: `no roles in ${join(agents, "none")}; install the plugin again`,
    });
  });
});

describe("the warnings of a build", () => {
  it("name a role without a tools list, once (case 4)", () => {
    agentFile("researcher.md", "name: researcher", "description: Looks things up on the web", "model: haiku");
    const answer = JSON.parse(buildFor("researcher").stdout);
    expect(answer.spawn_payload.allowed_tools).toEqual(["*"]);
    const warnings: string[] = JSON.parse(answer.validation.replace("warnings: ", ""));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toMatch(
      /researcher has no tools list and inherits every tool, the spawn tool included; review/,
    );
  });

  it("name an empty tools list, once", () => {
    agentFile("idle.md", "name: idle", "description: d", "tools: []");
    const answer = JSON.parse(buildFor("idle").stdout);
    expect(answer.spawn_payload.allowed_tools).toEqual(["*"]);
    const warnings: string[] = JSON.parse(answer.validation.replace("warnings: ", ""));
    expect(warnings).toHaveLength(1);
    expect(warnings[0]).toContain("idle has an empty tools list and can use no tool; review");
  });

  it("name keys that look like a known one (case 81)", () => {
    agentFile("wrong-key.md", "name: wrong-key", "description: d", "allowedTools: Read", "max_turns: 5");
    const { validation } = JSON.parse(buildFor("wrong-key").stdout);
    expect(validation).toMatch(/did you mean `tools`\?/);
    expect(validation).toMatch(/did you mean `maxTurns`\?/);
  });
});
