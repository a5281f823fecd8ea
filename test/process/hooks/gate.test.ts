import { spawnSync } from "node:child_process";
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { EVENT_TABLE, hooksJson } from "../../../src/hooks/event-table.ts";
import { HookSession } from "../../support/hook-session.ts";

/** Every way in which a hook's input is looked at before its script runs: each shell there is, and Node. */
const SHELLS = ["/bin/sh", "/bin/dash", "/bin/bash", "/bin/zsh", "/bin/ksh", "/bin/busybox"].filter((file) =>
  existsSync(file),
);
const WAYS: [name: string, command: string[]][] = [
  ...SHELLS.map((file): [string, string[]] => [
    file,
    file.endsWith("busybox") ? [file, "sh", "run.sh"] : [file, "run.sh"],
  ]),
  ["node", [process.execPath, "start.cjs"]],
];

const BY = { agent_id: "a1", agent_type: "general-purpose" };
const READ = { tool_name: "Read", tool_use_id: "r1", tool_input: { file_path: "x" } };
const MEGABYTE = 1024 * 1024;

let root: string;
/** The built plugin, with scripts that leave a mark, and that say how many bytes of which sum they were given. */
let probe: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), "gate-"));
  probe = join(root, "probe");
  cpSync("plugin/hooks", probe, { recursive: true });
  for (const { script } of EVENT_TABLE) {
    rmSync(join(probe, `${script}.cjs.cache`), { force: true });
    writeFileSync(
      join(probe, `${script}.cjs`),
      `const fs = require("node:fs");
       fs.writeFileSync(process.env.MARK, "");
       const bytes = __input ?? fs.readFileSync(0);
       const text = Buffer.from(bytes).toString("utf8").replaceAll("\\0", "").trim();
       console.log(require("node:crypto").createHash("sha256").update(text).digest("hex"));`,
    );
  }
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

function event(name: string, members: object = {}): string {
  const place = { session_id: "s1", transcript_path: "/x/s1.jsonl", cwd: "/x" };
  return JSON.stringify({ ...place, hook_event_name: name, ...members });
}

const preToolUse = (members: object) => event("PreToolUse", members);
const written = (content: string, members: object = {}) =>
  preToolUse({ tool_name: "Write", tool_use_id: "w1", tool_input: { content }, ...members });

type Row = [what: string, input: string | Uint8Array, reaches: boolean];

const AT_THE_GATE: Row[] = [
  ["nothing", "", false],
  ["a line end", "\n", false],
  ["a main-thread call", preToolUse(READ), false],
  ["a main-thread call without a line end, and with three", `${preToolUse(READ)}\n\r\n\n`, false],
  ["a subagent's call", preToolUse({ ...READ, ...BY }), true],
  ["a subagent's call with line ends after it", `${preToolUse({ ...READ, ...BY })}\n\n`, true],
  ["a subagent's call over many lines", JSON.stringify({ ...READ, ...BY }, null, 2), true],
  ["the member's name inside a text", written('{"agent_id": "a1"}'), false],
  ["the member's name inside a text that is quoted twice", written(JSON.stringify('{"agent_id"')), false],
  ["the member's name without quotes", written("my agent_id"), false],
  ["a part of the name, and the rest later", written('"agent', { note: '_id"' }), false],
  ["a text that is the name", written("agent_id"), true],
  ["a value that is the name", preToolUse({ ...READ, tool_input: { key: "agent_id" } }), true],
  ["a name of the input's own", preToolUse({ ...READ, tool_input: { agent_id: "a1" } }), true],
  ["a longer name", preToolUse({ ...READ, tool_input: { agent_ids: ["a1"] } }), false],
  ["other capitals", preToolUse({ ...READ, tool_input: { Agent_Id: "a1" } }), false],
  ["the name written as escapes", preToolUse({ ...READ, ...BY }).replace("agent_id", "\\u0061gent_id"), true],
  ["the underscore written as an escape", preToolUse({ ...READ, ...BY }).replace("t_id", "t\\u005fid"), true],
  ["a text with a control character", written("\u001b[31mred"), false],
  ["a pattern of the shell's", written("*?[a-z]* $(touch x) `touch x` ${HOME} \\ ' INPUT\nINPUT\n"), false],
  [
    "a pattern, by a subagent",
    written("*?[a-z]* $(touch x) `touch x` ${HOME} \\ ' INPUT\nINPUT\n", BY),
    true,
  ],
  ["letters of all kinds, by a subagent", written("é 検査 👩‍🚀 \u2028 ÿ", BY), true],
  ["ten megabytes", written("line\n".repeat(2 * MEGABYTE)), false],
  ["ten megabytes, by a subagent", written("line\n".repeat(2 * MEGABYTE), BY), true],
  [
    "ten megabytes before the name",
    written("é".repeat(5 * MEGABYTE)).replace(/}$/, ',"agent_id":"a1"}'),
    true,
  ],
  ["NULs", Buffer.from(`\0${preToolUse(READ)}\0\0`), false],
  ["NULs, by a subagent", Buffer.from(`\0${preToolUse({ ...READ, ...BY })}\0\0`), true],
  ["NULs within the name", Buffer.from(preToolUse({ ...READ, ...BY }).replace("t_i", "t\0_i")), true],
  ["every byte there is", Uint8Array.from({ length: 2560 }, (_, index) => index % 256), false],
  ["bytes that are no text around the name", Buffer.from('\xff\xfe"agent_id"\xc3', "latin1"), true],
  ["UTF-16", Buffer.from(preToolUse(READ), "utf16le"), false],
];

function gate([, [command = "", ...args]]: (typeof WAYS)[number], words: readonly string[], input: Row[1]) {
  const mark = join(root, "mark");
  rmSync(mark, { force: true });
  const [script = "", ...before] = args.toReversed();
  const { status, stdout, stderr } = spawnSync(
    command,
    [...before.reverse(), join(probe, script), "pre-tool-use.cjs", ...words],
    { input, env: { PATH: process.env.PATH ?? "", MARK: mark, LC_ALL: "C.UTF-8" }, maxBuffer: 1e9 },
  );
  return { status, said: stdout.toString(), stderr: stderr.toString(), reached: existsSync(mark) };
}

describe.each(AT_THE_GATE)("%s", (_, input, reaches) => {
  it(`${reaches ? "reaches" : "does not reach"} the guard, by every way, and whole`, () => {
    const all = WAYS.map((way) => gate(way, ['"agent_id"'], input));
    for (const [index, result] of all.entries()) {
      const way = WAYS[index]?.[0];
      expect(result, way).toMatchObject({ status: 0, stderr: "", reached: reaches });
      expect(result.said, way).toBe(all.at(-1)?.said);
    }
  });
});

describe("a word of many", () => {
  const batch = EVENT_TABLE.find(({ script }) => script === "post-tool-batch")?.words ?? [];

  it.each(batch)("is found: %s", (word) => {
    for (const way of WAYS) {
      expect(gate(way, batch, event("PostToolBatch", { tool_calls: [JSON.parse(word)] })).reached).toBe(true);
    }
  });

  it("is looked for by its own letters, not as a pattern", () => {
    for (const way of WAYS) {
      expect(gate(way, ["a*c", "[x]"], "abc x").reached, way[0]).toBe(false);
      expect(gate(way, ["a*c", "[x]"], "a [x]").reached, way[0]).toBe(true);
    }
  });
});

describe("the built hooks answer alike", () => {
  const node = () => {
    const plugin = join(root, "without-shell");
    if (!existsSync(plugin)) {
      cpSync(resolve("plugin"), plugin, { recursive: true });
      writeFileSync(join(plugin, "hooks/hooks.json"), JSON.stringify(hooksJson("node")));
    }
    return plugin;
  };
  const shell = () => {
    const plugin = join(root, "with-shell");
    if (!existsSync(plugin)) {
      cpSync(resolve("plugin"), plugin, { recursive: true });
      writeFileSync(join(plugin, "hooks/hooks.json"), JSON.stringify(hooksJson("sh")));
    }
    return plugin;
  };

  /** A session in which an agent runs that has used up its one call. */
  async function answers(plugin: string): Promise<unknown[]> {
    const session = new HookSession(undefined, { subagent_max_depth: 1 }, plugin);
    try {
      const budget = { max_input_tokens: 1000, max_output_tokens: 100, max_tool_calls: 1, max_turns: 9 };
      const payload = {
        trace_id: "wf-20261130-gate00-spawn-001",
        subagent_role: "general-purpose",
        goal: "look at one part",
        constraints: [],
        allowed_tools: ["*"],
        budget: { ...budget, timeout_ms: 60_000, retry_budget: 0 },
      };
      const prompt = `look\n<spawn_payload>\n${JSON.stringify(payload)}\n</spawn_payload>`;
      const said: unknown[] = [await session.ask(session.agentCall("t1", {}, { prompt }))];
      said.push(await session.send(session.launched("t1", "a1")));
      said.push(await session.ask(session.agentCall("t2", BY)));
      said.push(await session.ask(session.event("PreToolUse", { ...READ, ...BY, tool_use_id: "r0" })));
      for (const [, input] of AT_THE_GATE) said.push(await session.raw(input, "PreToolUse", "Read"));
      said.push(await session.raw("", "PreToolUse", "Agent"));
      said.push(session.ledger().session.refusals);
      return JSON.parse(JSON.stringify(said).replaceAll(plugin, "").replaceAll(session.root, ""));
    } finally {
      session.remove();
    }
  }

  it("with a shell and without", async () => {
    const [withShell, without] = [await answers(shell()), await answers(node())];
    expect(without).toEqual(withShell);
    const text = JSON.stringify(withShell);
    expect(text).toContain("would be at depth 2; the limit is 1");
    expect(text).toContain("bad input");
  }, 120_000);
});

it("the hooks that need no shell name no shell and no script of one", () => {
  const text = JSON.stringify(hooksJson("node"));
  expect(text).not.toMatch(/"sh"|run\.sh/);
  expect(readFileSync("scripts/build.ts", "utf8")).toContain('process.platform === "win32"');
});
