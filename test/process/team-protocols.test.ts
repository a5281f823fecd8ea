import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import { isTraceId } from "../../src/payload/trace-id.ts";
import { denial, HookSession, updatedInput } from "../support/hook-session.ts";
import { commandsIn, type Fence, isCommand, readProtocol, WRITTEN } from "../support/protocol-texts.ts";

const folder = mkdtempSync(join(tmpdir(), "protocols-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs commands as a model's Bash call would: the CLI by its name, on the PATH. */
function run(commands: string): string {
  const script = `set -e -o pipefail\n${commands.replace(/\bROLE\b/g, "db-engineer")}`;
  const environment = { PATH: `${resolve("plugin/bin")}:${process.env.PATH}`, HOME: folder };
  return execFileSync("bash", ["-c", script], { cwd: folder, env: environment }).toString();
}

const plain = (text: string) =>
  text.replace(/\bwf-\d{8}-/g, "wf-20260427-").replace(/timestamp=(\\?")[^"\\]*/g, "timestamp=$1<time>");

/** What a command prints, and the prompt that it builds as it reads. */
function printed(commands: string): string {
  const text = run(commands);
  const prompt = text.startsWith("{") ? JSON.parse(text).agent_input?.prompt : undefined;
  return plain(typeof prompt === "string" ? `${text}\n${prompt}` : text);
}

/** Each shell block with the blocks that follow it, up to the next: what it prints. */
function shown(fences: readonly Fence[]): { command: string; outputs: string[] }[] {
  return fences.flatMap(({ language, text }, at) => {
    if (language !== "sh") return [];
    const after = fences.slice(at + 1);
    const next = after.findIndex((fence) => fence.language === "sh");
    const outputs = after.slice(0, next < 0 ? undefined : next).map((fence) => fence.text);
    return [{ command: text, outputs }];
  });
}

const PROTOCOLS = WRITTEN.map(readProtocol);
const BLOCKS = PROTOCOLS.flatMap(({ fences }) => shown(fences));
const INLINE = PROTOCOLS.flatMap(commandsIn)
  .filter(isCommand)
  .filter((command) => !command.includes("\n"));

describe("a command in a protocol", () => {
  it("there are some of both kinds", () => {
    expect(BLOCKS).toHaveLength(4);
    expect(INLINE).toHaveLength(3);
  });

  it.each(BLOCKS)("prints what is shown below it: $command", ({ command, outputs }) => {
    const text = printed(command);
    expect(outputs.length).toBeGreaterThan(0);
    for (const output of outputs) expect(text).toContain(output.trimEnd());
  });

  it.each(INLINE)("runs: %s", (command) => {
    expect(run(command)).not.toBe("");
  });

  it("that names a parent builds a payload with it", () => {
    const nested = INLINE.find((command) => command.includes("--parent-trace-id")) ?? "";
    const { spawn_payload: payload, validation } = JSON.parse(run(nested));
    expect(validation).toBe("ok");
    expect(isTraceId(payload.parent_trace_id)).toBe(true);
    expect(nested).toContain(` ${payload.parent_trace_id} `);
  });
});

describe("the worked call of spawn-pattern.md", () => {
  const [worked] = shown(readProtocol("spawn-pattern.md").fences);
  if (worked === undefined) throw new Error("there is no worked call");
  const [members = "", prompt = ""] = worked.outputs;
  const input: Record<string, string> = JSON.parse(
    `{${members} "prompt": ${JSON.stringify(prompt.trimEnd())}}`,
  );

  let session: HookSession;
  afterEach(() => session?.remove());

  it("is the whole input that the builder makes", () => {
    expect(JSON.parse(plain(run(worked.command))).agent_input).toEqual(input);
  });

  it.each(["attach", "require"])("is admitted as it stands when payload_mode is %s", async (mode) => {
    session = new HookSession(undefined, { payload_mode: mode });
    const result = await session.ask(session.agentCall("t1", {}, input));
    expect(result).toMatchObject({ exitCode: 0, stderr: "" });
    expect(denial(result)).toBeNull();
    expect(updatedInput(result)).toMatchObject({
      ...input,
      prompt: expect.stringContaining("[spawn-guard] You are"),
    });
    expect(session.ledger().spawns).toMatchObject([
      { trace: "wf-20260427-abc123-spawn-001", origin: "caller", role: "db-engineer" },
    ]);
  });

  it("is refused the second time", async () => {
    session = new HookSession();
    await session.ask(session.agentCall("t1", {}, input));
    expect(denial(await session.ask(session.agentCall("t2", {}, input)))).toContain(
      'Trace id "wf-20260427-abc123-spawn-001" has already been used in this session.',
    );
  });
});

it("the package has every protocol in the plugin's folder", () => {
  const packed = execFileSync("npm", ["pack", "--dry-run", "--json", "--ignore-scripts"]).toString();
  const files: { path: string }[] = JSON.parse(packed)[0].files;
  const protocols = files.map(({ path }) => path).filter((path) => path.includes("team-protocols/"));
  expect(protocols.sort()).toEqual(
    [...WRITTEN, "role-selection-table.md"].map((file) => `plugin/team-protocols/${file}`).sort(),
  );
});
