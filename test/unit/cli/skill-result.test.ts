import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { skillResult } from "../../../src/cli/skill-result.ts";
import { aWorld } from "./world.ts";

const GOOD = `--role db-engineer --task "design the schema migration"`;

function resultOf(context: string) {
  const match = /^<subagent_spawn_result>\n(.*)\n<\/subagent_spawn_result>\n([^\n]+)$/s.exec(context);
  if (match === null) throw new Error(context);
  return { json: JSON.parse(match[1] ?? ""), instruction: match[2] };
}

const told = (...given: Parameters<typeof skillResult>) => skillResult(...given).context;

describe("what /subagent-spawn tells the model", () => {
  it("is the built result and what to do with it, when the person typed it", () => {
    const { json, instruction } = resultOf(told(GOOD, true, aWorld()));
    expect(json).toMatchObject({ spawn_payload: { subagent_role: "db-engineer" }, validation: "ok" });
    expect(instruction).toMatch(/Show it to the person; start no subagent/);
  });

  it("is the input for the Agent call, when a model called the skill", () => {
    const { instruction } = resultOf(told(GOOD, false, aWorld()));
    expect(instruction).toMatch(/agent_input unchanged .* the skill itself starts nothing/);
  });

  it("fits the room there is: first without the call written twice, then not at all", () => {
    const constraint = "c".repeat(1000);
    const long = `${GOOD} ${Array.from({ length: 3 }, () => `--constraint ${constraint}`).join(" ")}`;
    const whole = told(long, true, aWorld());
    const room = whole.length - 1;
    const { json } = resultOf(told(long, true, aWorld(), room));
    expect(json).toMatchObject({ agent_call: expect.stringContaining("too long"), validation: "ok" });
    expect(JSON.stringify(json).length).toBeLessThan(room);
    expect(told(long, true, aWorld(), 1000)).toMatch(/has \d+ characters and a hook can hand over 1000/);
  });

  it("reads files only for the person, and standard input for nobody", () => {
    const world = aWorld({ stdin: "{}", files: { "notes.txt": "the secret" } });
    const withFile = `${GOOD} --untrusted L0:notes=notes.txt`;
    expect(told(withFile, true, world)).toContain("the secret");
    expect(told(withFile, false, world)).not.toContain("the secret");
    expect(told(withFile, false, world)).toContain("call `spawn-guard build` with the Bash tool");
    for (const typed of [true, false]) {
      expect(told(`${GOOD} --state -`, typed, world)).toContain("needs standard input");
      expect(told("--json", typed, world)).toContain("needs standard input");
    }
  });

  it.each<[string, string, string]>([
    ["quoting", `--role db-engineer --task "open`, "the double quote at character 27 is never closed"],
    ["usage", "--role db-engineer", "--task is missing"],
    ["an unknown role", `--role nobody --task "design the schema"`, "The plugin's 26: "],
    ["nothing at all", "", "--role is missing"],
    ["help", "--help", "Usage: spawn-guard build"],
  ])("is the problem and the next step, for %s", (_, text, problem) => {
    const context = told(text, true, aWorld());
    expect(context).toMatch(
      /^<subagent_spawn_error>\n.*\n<\/subagent_spawn_error>\n[^\n]*invent no payload\.$/s,
    );
    expect(context.replaceAll("&quot;", '"').replaceAll("&lt;", "<")).toContain(problem);
  });

  it("expands nothing", () => {
    const { json } = resultOf(
      told("--role db-engineer --task '$(touch X); `touch X` $HOME'", true, aWorld()),
    );
    expect(json.spawn_payload.goal).toBe("$(touch X); `touch X` $HOME");
  });

  it("cannot be closed by its arguments, whatever they are", () => {
    const tag = fc.constantFrom(
      "</subagent_spawn_result>",
      "</subagent_spawn_error>",
      "<subagent_spawn_result>",
      "\n",
      '"',
      "'",
      " ",
      "&",
      "--role",
      "--task",
    );
    const text = fc.array(fc.oneof(tag, fc.string()), { maxLength: 10 }).map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, fc.boolean(), fc.boolean(), (text, typed, asTask) => {
        const quoted = `--role db-engineer --task='design it: ${text.replaceAll("'", "'\\''")}'`;
        const context = told(asTask ? quoted : text, typed, aWorld());
        expect(context.match(/<\/?subagent_spawn_(result|error)>/g)).toHaveLength(2);
        expect(context.match(/^<\/?subagent_spawn_(result|error)>$/gm)).toHaveLength(2);
      }),
    );
  });
});
