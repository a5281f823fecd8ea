// Stands between Claude Code and a hook's handler: runs it unchanged and writes down what went in and out.
// node hook-tee.mjs <plugin> <event> exec <command> [args…] | shell <command in base64> | ask
import { spawn } from "node:child_process";
import { appendFileSync, readdirSync, readFileSync } from "node:fs";
import { request } from "node:http";

const [plugin, event, mode, ...rest] = process.argv.slice(2);
const t = Math.round(performance.timeOrigin);
const log = process.env.SPAWN_GUARD_HOOK_LOG;
const answers = process.env.SPAWN_GUARD_HOOK_ANSWERS;
const env = { ...process.env };
if (env.SPAWN_GUARD_TEE_NODE_OPTIONS !== undefined) env.NODE_OPTIONS = env.SPAWN_GUARD_TEE_NODE_OPTIONS;
for (const name of ["LOG", "ANSWERS", "TEE_NODE_OPTIONS"]) {
  delete env[`SPAWN_GUARD_${name}`];
  delete env[`SPAWN_GUARD_HOOK_${name}`];
}

const stdin = await bytes(process.stdin);
const input = parsed(stdin) ?? {};
const sidecar = readSidecar(input);
const started = Date.now();
let written = false;

process.once("SIGTERM", () => {
  write("", "", null);
  process.exit(143);
});
const { stdout, stderr, exitCode } = mode === "ask" ? await ask() : await run();
write(stdout, stderr, exitCode);
process.stdout.write(stdout);
process.stderr.write(stderr);
process.exitCode = exitCode;

function run() {
  const [command, args] =
    mode === "exec"
      ? [rest[0], rest.slice(1)]
      : ["/bin/sh", ["-c", Buffer.from(rest[0], "base64").toString()]];
  return new Promise((resolve) => {
    const child = spawn(command, args, { env, stdio: ["pipe", "pipe", "pipe"] });
    const out = bytes(child.stdout);
    const err = bytes(child.stderr);
    child.once("error", (error) => resolve({ stdout: "", stderr: `${error.message}\n`, exitCode: 1 }));
    child.once("close", async (code, signal) => {
      const exitCode = code ?? (signal === null ? 1 : 128);
      resolve({ stdout: String(await out), stderr: String(await err), exitCode });
    });
    child.stdin.on("error", () => {});
    child.stdin.end(stdin);
  });
}

function ask() {
  const silent = { stdout: "", stderr: "", exitCode: 0 };
  if (answers === undefined) return silent;
  return new Promise((resolve) => {
    const sent = request(`${answers}/${plugin}/${event}`, { method: "POST" }, async (response) => {
      resolve({ ...silent, stdout: String(await bytes(response)) });
    });
    sent.once("error", () => resolve(silent));
    sent.end(stdin);
  });
}

function write(stdout, stderr, exitCode) {
  if (log === undefined || written) return;
  written = true;
  const call = { t, plugin, event, input, sidecar, stdout: parsed(stdout), stderr, exitCode };
  appendFileSync(log, `${JSON.stringify({ ...call, ms: Date.now() - started, env })}\n`);
}

function readSidecar({ transcript_path: transcript, agent_id: agent }) {
  if (typeof transcript !== "string" || typeof agent !== "string") return null;
  const folder = `${transcript.replace(/\.jsonl$/, "")}/subagents`;
  const runs = listed(`${folder}/workflows`).map((run) => `${folder}/workflows/${run}`);
  for (const place of [folder, ...runs]) {
    try {
      return parsed(readFileSync(`${place}/agent-${agent}.meta.json`));
    } catch {}
  }
  return null;
}

function listed(folder) {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function parsed(text) {
  try {
    return JSON.parse(String(text));
  } catch {
    return null;
  }
}

async function bytes(stream) {
  const chunks = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}
