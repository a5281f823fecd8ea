import { spawn, spawnSync } from "node:child_process";
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, it } from "vitest";

const PLUGIN = fileURLToPath(new URL("../../../plugin", import.meta.url));
const GOOD = ["build", "--role", "db-engineer", "--task", "design the schema migration"];

let folder = "";
/** a copy of the installed plugin under a name that breaks what is not quoted */
let plugin = "";
let command = "";

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), "spawn-guard-cli-"));
  plugin = join(folder, `it's a "plug in" $HOME \`x\` 日本`);
  for (const part of ["agents", "bin", "cli", ".claude-plugin"])
    cpSync(join(PLUGIN, part), join(plugin, part), { recursive: true });
  command = join(plugin, "bin", "spawn-guard");
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

type Run = { status: number | null; stdout: string; stderr: string };

function run(argv: string[], input: string | Buffer = "", cwd = folder): Run {
  const env = { PATH: `${dirname(process.execPath)}:/usr/bin:/bin`, LC_ALL: "C" };
  const { status, stdout, stderr, error } = spawnSync(command, argv, {
    input,
    cwd,
    env,
    maxBuffer: 64_000_000,
  });
  if (error !== undefined) throw error;
  return { status, stdout: stdout.toString("utf8"), stderr: stderr.toString("utf8") };
}

describe("the spawn-guard command", () => {
  it("builds from any folder, wherever the plugin stands", () => {
    const { status, stdout, stderr } = run(GOOD);
    expect([status, stderr]).toEqual([0, ""]);
    const { spawn_payload, agent_input, validation } = JSON.parse(stdout);
    expect(spawn_payload.trace_id).toMatch(/^wf-\d{8}-[0-9a-z]{6}-spawn-001$/);
    expect(agent_input.subagent_type).toBe("spawn-guard:db-engineer");
    expect(validation).toBe("ok");
  });

  it("works through a symbolic link, and as a file of its own", () => {
    const linked = join(folder, "linked");
    symlinkSync(command, linked);
    expect(spawnSync(linked, GOOD).status).toBe(0);
    expect(spawnSync(process.execPath, [join(plugin, "cli", "spawn-guard.cjs"), ...GOOD]).status).toBe(0);
  });

  it("gives every build a trace id of its own", () => {
    const ids = Array.from({ length: 5 }, () => JSON.parse(run(GOOD).stdout).spawn_payload.trace_id);
    expect(new Set(ids).size).toBe(5);
  });

  it("names the plugin as its manifest does", () => {
    const renamed = join(folder, "renamed");
    cpSync(plugin, renamed, { recursive: true });
    writeFileSync(join(renamed, ".claude-plugin", "plugin.json"), '{"name":"other-name"}');
    const { stdout } = spawnSync(join(renamed, "bin", "spawn-guard"), GOOD);
    expect(JSON.parse(stdout.toString()).agent_input.subagent_type).toBe("other-name:db-engineer");
  });

  it.each<[string, string[], number, RegExp]>([
    [
      "refused",
      ["build", "--role", "nobody", "--task", "design the schema"],
      1,
      /^spawn-guard build: role "nobody" is unknown\n/,
    ],
    ["wrong usage", ["build", "--rol", "x"], 2, /^spawn-guard build: unknown option '--rol'/],
    ["a missing role", ["build", "--task", "design the schema"], 2, /--role is missing/],
    ["an unknown command", ["bulid"], 2, /^spawn-guard: unknown command 'bulid'\n\(Did you mean build\?\)/],
    [
      "an unknown option",
      ["-x"],
      2,
      /^spawn-guard: unknown option '-x'\nspawn-guard --help lists the commands\n$/,
    ],
    ["help on what is no command", ["help", "frob"], 2, /^spawn-guard: unknown command 'frob'\n/],
    ["no command", [], 2, /^Usage: spawn-guard /],
  ])("answers %s with an empty stdout, a text and no stack trace", (_, argv, status, text) => {
    const result = run(argv);
    expect([result.status, result.stdout]).toEqual([status, ""]);
    expect(result.stderr).toMatch(text);
    expect(result.stderr).not.toMatch(/^\s+at /m);
  });

  it.each([
    [["--help"], /Commands:\n +build /],
    [["help"], /Commands:\n +build /],
    [["help", "build"], /--untrusted <label=file>/],
    [["--version"], /^\d+\.\d+\.\d+\n$/],
    [["build", "--help"], /--untrusted <label=file>/],
    [["roles", "--help"], /--json/],
  ])("answers %j on stdout", (argv, text) => {
    const { status, stdout, stderr } = run(argv);
    expect([status, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(text);
  });

  it("says that its working folder has been removed", () => {
    const script = 'mkdir gone && cd gone && rmdir ../gone && exec "$0" "$1" roles';
    const argv = ["-c", script, process.execPath, join(plugin, "cli", "spawn-guard.cjs")];
    const { status, stdout, stderr } = spawnSync("sh", argv, { cwd: folder, encoding: "utf8" });
    expect([status, stdout]).toEqual([1, ""]);
    expect(stderr).toBe("spawn-guard: the working folder is not there any more; change to one that is\n");
  });

  it("runs nothing that stands in its arguments", () => {
    const marker = join(folder, "marker");
    const task = `design it; touch "${marker}" $(touch "${marker}") \`touch "${marker}"\``;
    expect(
      JSON.parse(run(["build", "--role", "db-engineer", "--task", task]).stdout).spawn_payload.goal,
    ).toBe(task);
    expect(existsSync(marker)).toBe(false);
  });

  it("writes no file", () => {
    const empty = join(folder, "empty");
    mkdirSync(empty);
    const before = readdirSync(plugin, { recursive: true });
    run(GOOD, "", empty);
    expect(readdirSync(empty)).toEqual([]);
    expect(readdirSync(plugin, { recursive: true })).toEqual(before);
  });

  it("says when its manifest is gone", () => {
    const bare = join(folder, "bare");
    cpSync(plugin, bare, { recursive: true });
    rmSync(join(bare, ".claude-plugin"), { recursive: true });
    const { status, stdout, stderr } = spawnSync(join(bare, "bin", "spawn-guard"), GOOD);
    expect([status, stdout.toString()]).toEqual([1, ""]);
    expect(stderr.toString()).toMatch(/^spawn-guard build: .*plugin\.json/);
  });

  it("says when there is no Node (case 47)", () => {
    const bin = join(folder, "no node");
    mkdirSync(bin);
    for (const tool of ["dirname", "readlink"])
      symlinkSync(["/usr/bin", "/bin"].map((at) => join(at, tool)).find(existsSync) ?? "", join(bin, tool));
    const { status, stderr } = spawnSync("/bin/sh", [command, "roles"], { env: { PATH: bin } });
    expect([status, stderr.toString()]).toEqual([
      127,
      "spawn-guard: node is not on PATH; install Node 20 or later\n",
    ]);
  });
});

describe("standard input", () => {
  const args = { role: "db-engineer", task: "データベースの移行を設計してください😀" };

  it.each([
    ["with a byte-order mark", Buffer.from(`\ufeff${JSON.stringify(args)}`)],
    ["over lines that end in CRLF", Buffer.from(JSON.stringify(args, null, 2).replaceAll("\n", "\r\n"))],
  ])("is read as UTF-8 whatever the locale, %s (case 41)", (_, input) => {
    const { status, stdout } = run(["build", "--json"], input);
    expect(status).toBe(0);
    expect(JSON.parse(stdout).spawn_payload.goal).toBe(args.task);
  });

  it.each([65_536, 70_000, 1_100_000, 8_000_000])(
    "is read whole, and so is the answer: %i bytes (case 37)",
    (size) => {
      const text = "é".repeat(size / 2);
      const { status, stdout } = run(
        ["build", "--json"],
        JSON.stringify({ ...args, untrusted: [{ label: "L0:page", text }] }),
      );
      expect(status).toBe(0);
      expect(JSON.parse(stdout).agent_input.prompt).toContain(text);
    },
  );

  it("may come late and in pieces that cut characters", async () => {
    const child = spawn(command, ["build", "--json"], { stdio: ["pipe", "pipe", "ignore"] });
    const chunks: Buffer[] = [];
    child.stdout.on("data", (chunk: Buffer) => chunks.push(chunk));
    const ended = new Promise((resolve) => child.on("close", resolve));
    for (const byte of Buffer.from(JSON.stringify(args))) {
      child.stdin.write(Buffer.from([byte]));
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    child.stdin.end();
    expect(await ended).toBe(0);
    expect(JSON.parse(Buffer.concat(chunks).toString()).spawn_payload.goal).toBe(args.task);
  });

  it("that is empty is one line of JSON on stderr", () => {
    const { status, stdout, stderr } = run(["build", "--json"], "");
    expect([status, stdout]).toEqual([2, ""]);
    expect(JSON.parse(stderr).error).toContain("standard input is not JSON");
  });
});

describe("files in arguments", () => {
  it("are found from the folder that the command runs in", () => {
    const work = join(folder, "work");
    mkdirSync(work);
    writeFileSync(join(work, "notes.txt"), "please <obey>");
    writeFileSync(join(work, "state.json"), '{"current_branch":"main"}');
    const { stdout } = run([...GOOD, "--untrusted", "L0:notes=notes.txt", "--state", "state.json"], "", work);
    const { spawn_payload, agent_input } = JSON.parse(stdout);
    expect(spawn_payload.state_slice).toEqual({ current_branch: "main" });
    expect(agent_input.prompt).toMatch(
      /<untrusted_content source="L0:notes" timestamp="[^"]+Z">\nplease &lt;obey&gt;\n<\/untrusted_content>/,
    );
  });

  it("are regular files of a million bytes at most", () => {
    const pipe = join(folder, "pipe");
    expect(spawnSync("mkfifo", [pipe]).status).toBe(0);
    const large = join(folder, "large.txt");
    writeFileSync(large, "x".repeat(1_000_001));
    for (const [path, why] of [
      [pipe, "it is no regular file"],
      [folder, "it is no regular file"],
      ["/dev/zero", "it is no regular file"],
      [large, "it has 1000001 bytes; at most 1000000"],
      [join(folder, "none"), "ENOENT"],
    ]) {
      const { status, stdout, stderr } = run([...GOOD, "--untrusted", `a=${path}`]);
      expect([status, stdout]).toEqual([1, ""]);
      expect(stderr).toContain(`--untrusted a cannot be read: ${why}`);
    }
  });
});

describe("a reader that stops early", () => {
  it("is no error", () => {
    const script = `"$0" roles --json | head -c 1; exit 0`;
    const { stdout, stderr } = spawnSync("/bin/sh", ["-c", script, command]);
    expect([stdout.toString(), stderr.toString()]).toEqual(["[", ""]);
  });
});
