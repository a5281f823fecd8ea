import { existsSync, readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { runBuild } from "../../../src/cli/build-command.ts";
import { aWorld, PLUGIN_ROOT } from "./world.ts";

const text = readFileSync(`${PLUGIN_ROOT}skills/subagent-spawn/SKILL.md`, "utf8");
const [, frontmatter = "", body = ""] = text.split(/^---$/m);

describe("the subagent-spawn skill", () => {
  it("has a name and a short description", () => {
    const { name, description } = parse(frontmatter);
    expect(name).toBe("subagent-spawn");
    expect(description.length).toBeLessThanOrEqual(120);
  });

  it("has under 60 lines", () => {
    expect(text.split("\n").length).toBeLessThan(60);
  });

  it("puts its arguments into no shell line", () => {
    expect(body).not.toMatch(/!`/);
    expect(body.match(/\$ARGUMENTS/g)).toHaveLength(1);
    expect(body).not.toMatch(/\$\d|\$ARGUMENTS\[/);
    for (const [, code = ""] of body.matchAll(/```sh\n(.*?)```/gs)) expect(code).not.toContain("$");
  });

  it("points to files that the plugin has", () => {
    const paths = [...body.matchAll(/\$\{CLAUDE_PLUGIN_ROOT\}\/([\w./-]*\w)/g)].map(([, path]) => path);
    expect(paths).toHaveLength(2);
    expect(paths.filter((path) => !existsSync(`${PLUGIN_ROOT}${path}`))).toEqual([]);
  });

  it("shows a call of the CLI that works", () => {
    const heredoc = /spawn-guard build --json <<'(\w+)'\n(.*?)\n\s*\1\n/s.exec(body);
    const result = runBuild(["--json"], aWorld({ stdin: heredoc?.[2] ?? "" }));
    expect(result).toMatchObject({ exitCode: 0, stderr: "" });
  });

  it("names every argument that --json takes", () => {
    const { stderr } = runBuild(["--json"], aWorld({ stdin: '{"colour":1}' }));
    const known: string[] = JSON.parse(stderr).error.split("known are ")[1].split(", ");
    for (const name of known) expect(body).toContain(`\`${name}\``);
  });
});
