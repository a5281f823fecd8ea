import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { attachedPayload, denial, HookSession } from "../support/hook-session.ts";

let session: HookSession;
beforeEach(() => {
  session = new HookSession();
  mkdirSync(join(session.root, "repo/.git"), { recursive: true });
  mkdirSync(join(session.root, "repo/part"));
  session.environment.CLAUDE_PROJECT_DIR = join(session.root, "repo/part");
});
afterEach(() => session.remove());

function agent(path: string, name: string, tools: string): void {
  const file = join(session.root, path);
  mkdirSync(dirname(file), { recursive: true });
  writeFileSync(file, `---\nname: ${name}\ndescription: d\ntools: ${tools}\n---\nbody\n`);
}

function rolesIn(
  folder: string,
): { name: string; tools: string[]; instead: string | null; origin: string }[] {
  const { stdout } = spawnSync(process.execPath, [resolve("plugin/cli/spawn-guard.cjs"), "roles", "--json"], {
    cwd: join(session.root, folder),
    env: session.environment,
  });
  return JSON.parse(stdout.toString());
}

/** What the guard lets an agent type use. */
async function toolsOf(type: string): Promise<unknown> {
  const result = await session.ask(session.agentCall(`call-${type}`, {}, { subagent_type: type }));
  return denial(result) ?? attachedPayload(result).allowed_tools;
}

describe("the guard and `roles` read the same agent files", () => {
  it("of the session's folder and those above it, the nearest first, then the user's (case 92)", async () => {
    agent("repo/.claude/agents/far.md", "far", "Read");
    agent("repo/.claude/agents/both.md", "both", "Read");
    agent("repo/part/.claude/agents/deep/er.md", "both", "Grep");
    agent("config/agents/mine.md", "mine", "Glob");
    agent("config/agents/far.md", "far", "Bash");
    symlinkSync(join(session.root, "repo/part/.claude"), join(session.root, "repo/part/.claude/agents/loop"));
    const used = rolesIn("repo/part").filter(
      ({ instead, origin }) => instead === null && /project|user/.test(origin),
    );
    expect(used.map(({ name, tools }) => [name, tools])).toEqual([
      ["both", ["Grep"]],
      ["far", ["Read"]],
      ["mine", ["Glob"]],
    ]);
    for (const { name, tools } of used) expect(await toolsOf(name)).toEqual(tools);
  });

  it("and take the project's stand-in for a built-in for what it is", async () => {
    agent("repo/.claude/agents/Explore.md", "Explore", "Read");
    expect(
      rolesIn("repo/part").find(({ name, origin }) => name === "Explore" && origin === "project"),
    ).toMatchObject({
      tools: ["Read"],
      instead: null,
    });
    expect(await toolsOf("Explore")).toEqual(["Read"]);
  });

  it("and neither guesses between two files of one name (case 88)", async () => {
    agent("repo/.claude/agents/a.md", "twin", "Read");
    agent("repo/.claude/agents/b.md", "twin", "Read, Bash");
    expect(rolesIn("repo").filter(({ name, instead }) => name === "twin" && instead !== null)).toHaveLength(
      2,
    );
    expect(await toolsOf("twin")).toMatch(/cannot be read: .*b\.md:1: name twin is taken by .*a\.md/);
  });
});

describe("a chain of agent files", () => {
  it.each([
    [
      "an ancestor's ban is kept by a role that hands tools on (case 86)",
      "disallowedTools: Bash",
      "",
      ["Bash"],
    ],
    ["the handing role's own ban binds it alone", "", "disallowedTools: Bash", []],
  ])("%s", async (_, top, middle, banned) => {
    const write = (name: string, lines: string[]) => {
      const folder = join(session.root, "config/agents");
      mkdirSync(folder, { recursive: true });
      const header = [`name: ${name}`, "description: d", ...lines].filter((line) => line !== "");
      writeFileSync(join(folder, `${name}.md`), `---\n${header.join("\n")}\n---\nbody\n`);
    };
    write("top", [top]);
    write("middle", ["tools: Read, Agent(worker)", middle]);
    write("worker", ["tools: Bash, Read"]);
    let by = {};
    for (const type of ["top", "middle", "worker"]) {
      const result = await session.ask(session.agentCall(`c-${type}`, by, { subagent_type: type }));
      expect(denial(result)).toBeNull();
      await session.send(session.launched(`c-${type}`, `a-${type}`, by));
      by = { agent_id: `a-${type}`, agent_type: type };
      await session.send(session.event("SubagentStart", by));
    }
    const worker = session.ledger().spawns.find(({ agentType }) => agentType === "worker");
    expect(worker?.inheritedBans).toEqual(banned);
    const use = { ...by, tool_name: "Bash", tool_use_id: "b1", tool_input: { command: "ls" } };
    const [answer] = await session.send(session.event("PreToolUse", use));
    expect(answer === undefined || denial(answer) === null).toBe(banned.length === 0);
  });
});

describe("among many agent files", () => {
  /** The plugin without the reader of agent files. */
  function withoutReader(): string {
    const plugin = join(session.root, "plugin");
    cpSync("plugin", plugin, { recursive: true });
    rmSync(join(plugin, "hooks/part-agent-folder.cjs"));
    return plugin;
  }

  it("only those are read that may be the one asked for", async () => {
    session = new HookSession(undefined, {}, withoutReader());
    for (let index = 0; index < 50; index++) agent(`.claude/agents/${index}.md`, `helper-${index}`, "Read");
    agent(".claude/agents/listed.md", "listed", "Read");
    for (const type of ["general-purpose", "Explore", "spawn-guard:qa-engineer", "stranger"])
      expect(Array.isArray(await toolsOf(type)), type).toBe(true);
    expect(await toolsOf("listed")).toMatch(/could not judge/);
  });

  it("a folder that has more than is looked at leaves no type to guess about", async () => {
    session = new HookSession();
    agent(".claude/agents/zz/reader.md", "reader", "Read");
    for (let index = 0; index < 5_001; index++)
      writeFileSync(join(session.root, `.claude/agents/note-${index}.txt`), "");
    expect(await toolsOf("reader")).toMatch(/more than 5000 entries, so that not all agents in it are known/);
  });
});
