import { spawn } from "node:child_process";
import { chmodSync, existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { denial, type HookResult, HookSession } from "../../support/hook-session.ts";

let session: HookSession;
afterEach(() => session.remove());

const BY = { agent_id: "a1", agent_type: "general-purpose" };

/** A PATH of its own: the shell, and `node` as a script of this text where one is given. */
function onlyPath(node: string | null): void {
  const bin = join(session.root, "bin");
  mkdirSync(bin);
  for (const tool of ["sh", "cat", "touch"]) {
    const found = ["/bin", "/usr/bin"].map((folder) => join(folder, tool)).find((file) => existsSync(file));
    if (found !== undefined) symlinkSync(found, join(bin, tool));
  }
  if (node !== null) {
    writeFileSync(join(bin, "node"), `#!/bin/sh\n${node}\n`);
    chmodSync(join(bin, "node"), 0o755);
  }
  session.environment.PATH = bin;
}

/** Events of the main thread that no guard has a say in. */
const NONE_OF_OURS: [string, Record<string, unknown>][] = [
  ["PreToolUse", { tool_name: "Read", tool_use_id: "r1", tool_input: { file_path: "x" } }],
  ["PreToolUse", { tool_name: "Bash", tool_use_id: "b1", tool_input: { command: "ls" } }],
  ["PreToolUse", { tool_name: "TaskCreate", tool_use_id: "c1", tool_input: { subject: "x" } }],
  ["PreToolUse", { tool_name: "mcp__x__y", tool_use_id: "m1", tool_input: {} }],
  ["PreToolUse", { tool_name: "Write", tool_use_id: "w1", tool_input: { content: '{"agent_id": "a1"}' } }],
  ["PostToolBatch", { tool_calls: [{ tool_name: "Read", tool_use_id: "r1", tool_input: {} }] }],
  [
    "PostToolBatch",
    { tool_calls: [{ tool_name: "Write", tool_use_id: "w1", tool_input: { content: '"Agent"' } }] },
  ],
  ["StopFailure", { error: "overloaded" }],
  ["UserPromptSubmit", { prompt: "look at the agents" }],
  ["UserPromptExpansion", { command_name: "develop", command_args: "" }],
];

describe("an event that is none of ours", () => {
  it.each(NONE_OF_OURS)("starts no Node and says nothing: %s %j", async (name, members) => {
    session = new HookSession();
    const mark = join(session.root, "mark");
    onlyPath(`touch '${mark}'`);
    expect(await session.ask(session.event(name, members))).toEqual({
      exitCode: 0,
      stdout: "",
      stderr: "",
      json: null,
    });
    expect(existsSync(mark)).toBe(false);
  });

  it.each<[string, Record<string, unknown>]>([
    ["PreToolUse", { tool_name: "Read", ...BY }],
    ["PreToolUse", { tool_name: "Agent" }],
    ["PreToolUse", { tool_name: "Task" }],
    ["PreToolUse", { tool_name: "Workflow" }],
    ["PreToolUse", { tool_name: "SendMessage" }],
    ["PostToolBatch", { tool_calls: [{ tool_name: "Agent" }] }],
    ["PostToolBatch", { tool_calls: [{ tool_name: "Task" }] }],
    ["PostToolBatch", { tool_calls: [], ...BY }],
    ["UserPromptSubmit", { prompt: "<task-notification>\n</task-notification>" }],
    ["UserPromptExpansion", { command_name: "spawn-guard:subagent-spawn" }],
    ["SubagentStart", BY],
    ["SubagentStop", BY],
    ["StopFailure", BY],
  ])("is told from one that is: %s %j", async (name, members) => {
    session = new HookSession();
    const mark = join(session.root, "mark");
    onlyPath(`touch '${mark}'`);
    await session.ask(session.event(name, members));
    expect(existsSync(mark)).toBe(true);
  });
});

describe("without node on the PATH (case 47)", () => {
  it("a spawn is refused, with a word that names node", async () => {
    session = new HookSession();
    onlyPath(null);
    const { exitCode, stdout, stderr } = await session.ask(
      session.event("PreToolUse", { tool_name: "Agent" }),
    );
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: "" });
    expect(stderr).toMatch(/^spawn-guard cannot run: node is not on the PATH.*Subagents are refused/);
  });

  it("the person is told when the session starts", async () => {
    session = new HookSession();
    onlyPath(null);
    const { exitCode, json } = await session.ask(session.event("SessionStart", { source: "startup" }));
    expect({ exitCode, message: json?.systemMessage }).toEqual({
      exitCode: 0,
      message: expect.stringContaining("node is not on the PATH"),
    });
  });

  it.each<[string, Record<string, unknown>]>([
    ["PreToolUse", { tool_name: "Read", ...BY }],
    ["SubagentStop", BY],
  ])("%s %j goes on", async (name, members) => {
    session = new HookSession();
    onlyPath(null);
    expect(await session.ask(session.event(name, members))).toMatchObject({
      exitCode: 0,
      stdout: "",
      stderr: "",
    });
  });

  it.each(NONE_OF_OURS)("what is none of ours goes on in silence: %s %j", async (name, members) => {
    session = new HookSession();
    onlyPath(null);
    expect(await session.ask(session.event(name, members))).toMatchObject({
      exitCode: 0,
      stdout: "",
      stderr: "",
    });
  });
});

describe("an environment that a repository made", () => {
  it.each([
    [
      "NODE_OPTIONS with a preload that ends the process",
      (file: string) => ({ NODE_OPTIONS: `--require=${file}` }),
    ],
    ["NODE_OPTIONS that no Node takes", () => ({ NODE_OPTIONS: "--no-such-flag" })],
    ["OPENSSL_CONF that no Node can read", (file: string) => ({ OPENSSL_CONF: `${file}.cnf` })],
    ["LC_ALL and IFS", () => ({ LC_ALL: "C", IFS: "{" })],
    ["ENV and BASH_ENV", (file: string) => ({ ENV: file, BASH_ENV: file })],
    ["CDPATH", () => ({ CDPATH: "/" })],
  ])("changes no decision: %s", async (_, variables) => {
    session = new HookSession(undefined, { subagent_max_depth: 0 });
    const preload = join(session.root, "preload.cjs");
    writeFileSync(preload, "process.exit(0)\n");
    writeFileSync(`${preload}.cnf`, "nodejs_conf = broken\n[broken]\nengines = nowhere\n[x");
    Object.assign(session.environment, variables(preload));
    const result = await session.ask(session.agentCall("t1"));
    expect(result).toMatchObject({ exitCode: 0, stderr: "" });
    expect(denial(result)).toContain("subagent_max_depth is 0");
    session.environment.CLAUDE_PLUGIN_OPTION_SUBAGENT_MAX_DEPTH = "3";
    await session.ask(session.agentCall("t2"));
    await session.ask(session.launched("t2", "a1"));
    const read = session.event("PreToolUse", { ...BY, tool_name: "Read", tool_use_id: "r1", tool_input: {} });
    expect(await session.ask(read)).toMatchObject({ exitCode: 0, stdout: "", stderr: "" });
    expect(session.ledger().spawns[0]?.meter.inFlight).toEqual(["r1"]);
  });
});

/** Runs one of the scripts by way of run.sh, with `redirection` of the shell's. */
function run(
  script: string,
  input: string,
  redirection = "",
  closesOutput = false,
): Promise<Omit<HookResult, "json">> {
  const command = `exec sh "$CLAUDE_PLUGIN_ROOT/hooks/run.sh" ${script} ${redirection}`;
  const child = spawn("sh", ["-c", command], { env: session.environment, cwd: session.project });
  let stdout = "";
  let stderr = "";
  if (closesOutput) child.stdout.destroy();
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    stderr += text;
  });
  child.stdin.on("error", () => {});
  child.stdin.end(input);
  return new Promise((done) => child.on("close", (exitCode) => done({ exitCode, stdout, stderr })));
}

describe("a host that goes away", () => {
  it.each(["<&-", "</dev/null"])("before it has said anything: standard input is %s", async (redirection) => {
    session = new HookSession();
    const { exitCode, stdout } = await run("pre-tool-use-agent.cjs", "", redirection);
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout)).toMatchObject({ hookSpecificOutput: { permissionDecision: "deny" } });
  });

  it("before it has said anything at the gate", async () => {
    session = new HookSession();
    const result = await run("pre-tool-use.cjs", "", `'"agent_id"' </dev/null`);
    expect(result).toEqual({ exitCode: 0, stdout: "", stderr: "" });
  });

  it("before it has read the answer leaves no error behind", async () => {
    session = new HookSession();
    const input = JSON.stringify(session.agentCall("t1", {}, { prompt: "é".repeat(1_000_000) }));
    expect(await run("pre-tool-use-agent.cjs", input, "", true)).toMatchObject({ exitCode: 0, stderr: "" });
    expect(session.ledger().session.admitted).toBe(1);
  });

  it("is answered in full where it reads slowly: two megabytes", async () => {
    session = new HookSession();
    const prompt = "é".repeat(1_000_000);
    const input = JSON.stringify(session.agentCall("t1", {}, { prompt }));
    const { exitCode, stdout } = await run("pre-tool-use-agent.cjs", input, "| { sleep 0.3; cat; }");
    expect(exitCode).toBe(0);
    expect(JSON.parse(stdout).hookSpecificOutput.updatedInput.prompt.startsWith(prompt)).toBe(true);
  });
});
