import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { EVENT_TABLE, hooksJson, SCRIPTS } from "../../../src/hooks/event-table.ts";

const TOOL_EVENTS = ["PreToolUse", "PostToolUse", "PostToolUseFailure"];

/** The host's two readings of a matcher: a list of exact names, else an unanchored regular expression. */
function scriptsFor(event: string, tool: string): string[] {
  return EVENT_TABLE.filter((row) => row.event === event)
    .filter(({ matcher = "" }) => {
      if (matcher === "") return true;
      return /^[\w\-, |]+$/.test(matcher)
        ? matcher.split(/[|,]/).includes(tool)
        : new RegExp(matcher).test(tool);
    })
    .map(({ script }) => script);
}

describe("hooks.json", () => {
  const file = JSON.parse(readFileSync("plugin/hooks/hooks.json", "utf8"));

  it("is what the event table makes", () => {
    expect(file).toEqual(hooksJson());
  });

  it("starts each script without a shell's reading of a path, from the plugin's own folder (case 48)", () => {
    for (const groups of Object.values<Record<string, unknown>[]>(file.hooks)) {
      for (const { hooks } of groups as { hooks: Record<string, unknown>[] }[]) {
        for (const handler of hooks) {
          expect(handler).toMatchObject({ type: "command", command: "sh" });
          expect(handler.args).toEqual(expect.arrayContaining(["${CLAUDE_PLUGIN_ROOT}/hooks/run.sh"]));
          expect(handler.timeout).toBeGreaterThanOrEqual(5);
        }
      }
    }
  });

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
