import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { runBuild } from "../../../src/cli/build-command.ts";
import { runContext } from "../../../src/cli/context-command.ts";
import { aContextWorld } from "./context-world.ts";
import { aWorld, PLUGIN_ROOT } from "./world.ts";

const text = readFileSync(`${PLUGIN_ROOT}skills/context-load/SKILL.md`, "utf8");
const [, frontmatter = "", body = ""] = text.split(/^---$/m);
const blocks = [...body.matchAll(/```sh\n(.*?)```/gs)].map(([, code = ""]) => code);

describe("the context-load skill", () => {
  it("has a description of at most 20 words, and 30 to 60 lines", () => {
    const { name, description } = parse(frontmatter);
    expect(name).toBe("context-load");
    expect(description.split(/\s+/).length).toBeLessThanOrEqual(20);
    const lines = text.trimEnd().split("\n").length;
    expect([lines >= 30, lines <= 60]).toEqual([true, true]);
  });

  it("puts its arguments into no shell line", () => {
    expect(body).not.toMatch(/!`/);
    expect(body.match(/\$ARGUMENTS/g)).toHaveLength(1);
    expect(blocks).toHaveLength(2);
    for (const code of blocks) expect(code).not.toContain("$");
  });

  it("shows calls that work, with every option that there is", () => {
    const calls = [...text.matchAll(/spawn-guard context ((?:--[a-z-]+(?: [a-z0-9-]+)? ?)+)/g)];
    expect(calls.length).toBeGreaterThanOrEqual(2);
    for (const [, options = ""] of calls)
      expect(
        runContext(options.trim().split(" "), aContextWorld({ "CLAUDE.md": "use postgres" })),
      ).toMatchObject({
        exitCode: 0,
      });
    const { stdout } = runContext(["--help"], aContextWorld({}));
    for (const [option] of stdout.matchAll(/--(?!help)[a-z-]+(?= )/g)) expect(text).toContain(option);
  });

  it("shows a build that takes the slice", () => {
    const heredoc = /spawn-guard build (--json --state )<\(.*\) <<'(\w+)'\n(.*?)\n\s*\2\n/s.exec(body);
    const slice = runContext(
      ["--for", "db-engineer", "--json"],
      aContextWorld({ "CLAUDE.md": "use postgres" }),
    ).stdout;
    const world = aWorld({ stdin: heredoc?.[3] ?? "", files: { slice } });
    const result = runBuild([...(heredoc?.[1] ?? "").trim().split(" "), "slice"], world);
    expect(result).toMatchObject({ exitCode: 0, stderr: "" });
    expect(JSON.parse(result.stdout)).toMatchObject({
      validation: "ok",
      spawn_payload: { untrusted_inputs: [{ source: "L2:CLAUDE.md", wrapped: true }] },
    });
  });
});
