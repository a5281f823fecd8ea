import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { EVENT_TABLE, hooksJson, SCRIPTS } from "../../../src/hooks/event-table.ts";
import { matchesTool } from "../../support/host-matcher.ts";
import { HOST_TOOLS } from "../../support/host-tools.ts";

const TOOL_EVENTS = ["PreToolUse", "PostToolUse", "PostToolUseFailure"];

const RECORDINGS = "test/recordings";

/** Every tool that was called in a session recorded in the real host. */
function recordedTools(): string[] {
  const texts = readdirSync(RECORDINGS).map((name) => readFileSync(join(RECORDINGS, name), "utf8"));
  const names = texts.flatMap((text) => [...text.matchAll(/"tool_name":"([^"]*)"/g)]);
  return [...new Set(names.map(([, name = ""]) => name))];
}

function scriptsFor(event: string, tool: string): string[] {
  return EVENT_TABLE.filter((row) => row.event === event && matchesTool(row.matcher, tool)).map(
    ({ script }) => script,
  );
}

describe("hooks.json", () => {
  const file = JSON.parse(readFileSync("plugin/hooks/hooks.json", "utf8"));

  it("is what the event table makes, for a machine with a shell or, where it was built so, without one", () => {
    expect([hooksJson("sh"), hooksJson("node")]).toContainEqual(file);
  });

  it.each([
    ["sh", "run.sh"],
    ["node", "start.cjs"],
  ] as const)(
    "starts each script by %s without a shell's reading of a path, from the plugin's own folder (case 48)",
    (starter, script) => {
      const handlers = Object.values(hooksJson(starter).hooks).flatMap((groups) =>
        (groups as { hooks: Record<string, unknown>[] }[]).flatMap(({ hooks }) => hooks),
      );
      expect(handlers).toHaveLength(EVENT_TABLE.length);
      for (const { type, command, args, timeout } of handlers) {
        expect({ type, command }).toEqual({ type: "command", command: starter });
        expect((args as string[])[0]).toBe(`\${CLAUDE_PLUGIN_ROOT}/hooks/${script}`);
        expect(timeout).toBeGreaterThanOrEqual(5);
      }
    },
  );

  it("does not depend on a file's mode (case 32)", () => {
    for (const script of SCRIPTS) {
      expect(existsSync(`plugin/hooks/${script}.cjs`), script).toBe(true);
      expect(existsSync(`src/hooks/${script}.ts`), script).toBe(true);
    }
    expect(statSync("plugin/hooks/run.sh").isFile()).toBe(true);
  });

  it("leaves no built script that no event starts", () => {
    const built = readdirSync("plugin/hooks").filter(
      (name) => name.endsWith(".cjs") && !name.startsWith("part-") && name !== "start.cjs",
    );
    expect(built.sort()).toEqual(SCRIPTS.map((script) => `${script}.cjs`).sort());
  });

  it("blocks a spawn whose hook cannot run at all, and nothing else", () => {
    const blocking = EVENT_TABLE.filter(({ onFailure }) => onFailure === "block").map(({ script }) => script);
    expect(blocking).toEqual(["pre-tool-use-agent"]);
  });
});

describe("who is asked about a tool call", () => {
  it.each([
    ["Agent", "pre-tool-use-agent"],
    ["Task", "pre-tool-use-agent"],
    ["Workflow", "pre-tool-use-launcher"],
    ["Skill", "pre-tool-use-launcher"],
    ["SendMessage", "pre-tool-use-launcher"],
    ["TaskStop", "pre-tool-use-launcher"],
    ["TaskCreate", "pre-tool-use"],
    ["TaskList", "pre-tool-use"],
    ["TaskGet", "pre-tool-use"],
    ["TaskUpdate", "pre-tool-use"],
    ["TaskOutput", "pre-tool-use"],
    ["AgentX", "pre-tool-use"],
    ["MyAgent", "pre-tool-use"],
    ["agent", "pre-tool-use"],
    ["Skills", "pre-tool-use"],
    ["Read", "pre-tool-use"],
    ["Bash", "pre-tool-use"],
    ["mcp__Agent__Task", "pre-tool-use"],
    ["mcp__memory__store", "pre-tool-use"],
    ["Tool of 2027", "pre-tool-use"],
    ["", "pre-tool-use"],
  ])("%j: %s, and nobody else", (tool, script) => {
    expect(scriptsFor("PreToolUse", tool)).toEqual([script]);
  });

  it("one script for each tool that the host names or was seen to call", () => {
    const tools = [...new Set([...HOST_TOOLS, ...recordedTools()])];
    expect(tools).toEqual(expect.arrayContaining(["Agent", "Task", "Read", "ToolSearch"]));
    const asked = tools.map((tool) => [tool, ...scriptsFor("PreToolUse", tool)]);
    expect(asked.filter((row) => row.length !== 2)).toEqual([]);
    const spawns = asked.filter(([, script]) => script === "pre-tool-use-agent").map(([tool]) => tool);
    expect(spawns.sort()).toEqual(["Agent", "Task"]);
  });

  it("one script for any name at all, and the spawns' for two alone", () => {
    const near = fc.constantFrom(...HOST_TOOLS, "Agent", "agents", "Task ", " Task", "Task|Agent", "Agent\n");
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: "binary" }), near), (tool) => {
        const scripts = scriptsFor("PreToolUse", tool);
        expect(scripts).toHaveLength(1);
        expect(scripts[0] === "pre-tool-use-agent").toBe(tool === "Agent" || tool === "Task");
      }),
    );
  });

  it.each(["PostToolUse", "PostToolUseFailure"])("after it, at %s: only what starts agents", (event) => {
    for (const tool of ["Agent", "Task", "Workflow", "Skill", "SendMessage", "TaskStop"]) {
      expect(scriptsFor(event, tool), tool).toHaveLength(1);
    }
    for (const tool of ["Read", "TaskCreate", "TaskList", "mcp__Agent__Task"]) {
      expect(scriptsFor(event, tool), tool).toEqual([]);
    }
  });
});

describe("each matcher (case 55)", () => {
  const matchers = EVENT_TABLE.flatMap(({ event, matcher }) =>
    matcher === undefined ? [] : [{ event, matcher }],
  );

  it.each(matchers)("of $event reads as the host would: $matcher", ({ event, matcher }) => {
    expect(TOOL_EVENTS).toContain(event);
    expect(matcher).not.toBe("*");
    expect(() => new RegExp(matcher)).not.toThrow();
    const isList = /^[\w|]+$/.test(matcher);
    expect(isList || (matcher.startsWith("^") && matcher.endsWith(")"))).toBe(true);
  });
});
