import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { runRoles } from "../../../src/cli/roles-command.ts";
import { PLUGIN_ROOT } from "./world.ts";

const AGENTS = `${PLUGIN_ROOT}agents`;

describe("spawn-guard roles", () => {
  it("is a table of the 26 and the 3", () => {
    const { exitCode, stdout, stderr } = runRoles([], AGENTS);
    expect([exitCode, stderr]).toEqual([0, ""]);
    const lines = stdout.trimEnd().split("\n");
    expect(lines).toHaveLength(30);
    expect(lines[0]).toMatch(/^role +type +input +output +calls +turns +time +tools$/);
    expect(stdout).toMatch(/^eval-judge +judge +50000 +600 +30 +5 +600 s +Read, Grep, Glob$/m);
    expect(stdout).toMatch(/^Explore +other +150000 +2000 +100 +50 +1800 s +\*$/m);
  });

  it("is the same as JSON", () => {
    const rows: { name: string }[] = JSON.parse(runRoles(["--json"], AGENTS).stdout);
    expect(rows).toHaveLength(29);
    expect(rows.find(({ name }) => name === "memory-curator")).toEqual({
      name: "memory-curator",
      origin: "plugin",
      type: "judge",
      tools: ["Read", "Write"],
      disallowed_tools: ["Edit", "Bash", "Agent"],
      budget: {
        max_input_tokens: 50_000,
        max_output_tokens: 800,
        max_tool_calls: 30,
        max_turns: 10,
        timeout_ms: 600_000,
        retry_budget: 1,
      },
    });
  });

  it("lists what it can of a folder with a broken file, and says so", () => {
    const agents = mkdtempSync(join(tmpdir(), "agents-"));
    try {
      writeFileSync(join(agents, "bad.md"), "---\nname: [\n---\n");
      writeFileSync(join(agents, "open.md"), "---\nname: open\ndescription: d\n---\n");
      const { exitCode, stdout, stderr } = runRoles([], agents);
      expect(exitCode).toBe(1);
      expect(stdout).toMatch(/^open .*\* \(no list\)$/m);
      expect(stderr).toMatch(/^error: .*bad\.md:\d+: /m);
    } finally {
      rmSync(agents, { recursive: true });
    }
  });

  it.each([[["--jsn"]], [["--json", "x"]], [["x"]]])("refuses %j", (argv) => {
    expect(runRoles(argv, AGENTS)).toMatchObject({ exitCode: 2, stdout: "" });
  });
});
