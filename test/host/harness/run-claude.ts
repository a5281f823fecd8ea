import { type ChildProcess, spawn } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { dirname, join } from "node:path";
import { claudeProgram } from "./claude-program.ts";
import { type HookCall, type HookInput, pluginName } from "./recorded-plugin.ts";
import { type Ask, type Scenario, startModel } from "./scripted-model.ts";
import { temporaryFolder } from "./temporary-folder.ts";

/** What a recorder plugin's hook answers; undefined says nothing. May be slow: the hook waits for it. */
export type HookAnswers = (input: HookInput, plugin: string) => HookAnswer | Promise<HookAnswer>;
export type HookAnswer = Record<string, unknown> | undefined;

export interface RunOptions {
  prompt: string;
  model: Scenario;
  /** Plugin folders, as `recordedPlugin` or `recorderPlugin` give them, or plain ones. */
  pluginDirs?: string[];
  /** Answers of the recorder plugins. */
  hooks?: HookAnswers;
  /** The plugins' user options, as the person would have set them; they reach every plugin of the run. */
  options?: Record<string, string | number | boolean>;
  /** Added to the program's environment; undefined takes a variable away. */
  env?: Record<string, string | undefined>;
  /** Settings for this run only (`--settings`). */
  settings?: object;
  /** The person's own settings.json. */
  userSettings?: Record<string, unknown>;
  /** Files in the project folder, by path. */
  projectFiles?: Record<string, string>;
  /** The folder of the project that the session is started in; the project itself by default. */
  folder?: string;
  /** "bypassPermissions" (the default) lets every tool run; "default" asks a person who is not there. */
  permissionMode?: string;
  args?: string[];
  /** Milliseconds, 60000 by default; the run is then killed and this rejects. */
  timeoutMs?: number;
  sessionId?: string;
  /** The home of an earlier run, to go on in its folders. */
  home?: string;
  /** The session to resume; give its run's `home` too. */
  resume?: string;
}

export interface Run {
  exitCode: number | null;
  /** The final text that Claude Code printed. */
  result: string;
  streamEvents: Record<string, unknown>[];
  sessionId: string;
  debugLog: string;
  stderr: string;
  home: string;
  projectDir: string;
  configDir: string;
  /** The session's folder, in which `subagents/` lies. */
  transcriptDir: string;
  /** In the order in which the handlers started. */
  hookCalls: HookCall[];
  asks: Ask[];
  /** The data folder (CLAUDE_PLUGIN_DATA) of a `--plugin-dir` plugin, by the plugin's name. */
  pluginData(name: string): string;
  cleanup(): void;
}

/** Runs the real Claude Code once, headless, in folders and an environment of its own. */
export async function runClaude(options: RunOptions): Promise<Run> {
  const home = options.home ?? temporaryFolder("home");
  const projectDir = join(home, "project");
  const configDir = join(home, ".claude");
  const runDir = mkdtempSync(join(home, "run-"));
  const debugFile = join(runDir, "debug.txt");
  const hookLog = join(runDir, "hooks.ndjson");
  mkdirSync(projectDir, { recursive: true });
  mkdirSync(configDir, { recursive: true });
  for (const [path, content] of Object.entries(options.projectFiles ?? {})) {
    mkdirSync(dirname(join(projectDir, path)), { recursive: true });
    writeFileSync(join(projectDir, path), content);
  }
  const settings = userSettings(options);
  if (settings !== undefined) writeFileSync(join(configDir, "settings.json"), JSON.stringify(settings));

  const model = await startModel(options.model);
  const answers = await startAnswers(options.hooks);
  const environment = {
    PATH: `${dirname(process.execPath)}:/usr/local/bin:/usr/bin:/bin`,
    HOME: home,
    CLAUDE_CONFIG_DIR: configDir,
    CLAUDE_CODE_TMPDIR: runDir,
    ANTHROPIC_API_KEY: "local",
    ANTHROPIC_BASE_URL: model.url,
    DISABLE_AUTOUPDATER: "1",
    DISABLE_TELEMETRY: "1",
    DISABLE_ERROR_REPORTING: "1",
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    IS_SANDBOX: "1",
    SPAWN_GUARD_HOOK_LOG: hookLog,
    ...(options.hooks === undefined ? {} : { SPAWN_GUARD_HOOK_ANSWERS: answers.url }),
    ...options.env,
  };
  try {
    const child = spawn(claudeProgram(), programArguments(options, debugFile), {
      cwd: join(projectDir, options.folder ?? ""),
      env: environment,
      detached: true,
      stdio: ["ignore", "pipe", "pipe"],
    });
    const { exitCode, stdout, stderr } = await finished(child, options.timeoutMs ?? 60_000, debugFile);
    const [fault] = [...model.errors, ...answers.errors];
    if (fault !== undefined) throw fault;
    const streamEvents = lines(stdout);
    const last = streamEvents.findLast((event) => event.type === "result");
    const sessionId = String(last?.session_id ?? options.sessionId ?? "");
    return {
      exitCode,
      result: String(last?.result ?? ""),
      streamEvents,
      sessionId,
      debugLog: read(debugFile),
      stderr,
      home,
      projectDir,
      configDir,
      transcriptDir: transcriptDir(configDir, sessionId),
      hookCalls: (lines(read(hookLog)) as unknown as HookCall[]).sort((a, b) => a.t - b.t),
      asks: model.asks,
      pluginData: (name) => join(configDir, "plugins/data", `${name}-inline`),
      cleanup: () => {
        rmSync(home, { recursive: true, force: true });
      },
    };
  } finally {
    await Promise.all([model.close(), answers.close()]);
  }
}

function programArguments(options: RunOptions, debugFile: string): string[] {
  const { permissionMode = "bypassPermissions" } = options;
  return [
    ...["-p", options.prompt, "--output-format", "stream-json", "--verbose", "--debug-file", debugFile],
    ...(options.pluginDirs ?? []).flatMap((folder) => ["--plugin-dir", folder]),
    ...(permissionMode === "bypassPermissions"
      ? ["--dangerously-skip-permissions"]
      : ["--permission-mode", permissionMode]),
    ...(options.settings === undefined ? [] : ["--settings", JSON.stringify(options.settings)]),
    ...(options.sessionId === undefined ? [] : ["--session-id", options.sessionId]),
    ...(options.resume === undefined ? [] : ["--resume", options.resume]),
    ...(options.args ?? []),
  ];
}

/** A `--plugin-dir` plugin's options stand under `<name>@inline`, where its own dialog would put them. */
function userSettings(options: RunOptions): Record<string, unknown> | undefined {
  const { userSettings, options: values, pluginDirs = [] } = options;
  if (values === undefined) return userSettings;
  const configs = pluginDirs.map((folder) => [`${pluginName(folder)}@inline`, { options: values }] as const);
  return { ...userSettings, pluginConfigs: Object.fromEntries(configs) };
}

interface Finished {
  exitCode: number | null;
  stdout: string;
  stderr: string;
}

function finished(child: ChildProcess, timeoutMs: number, debugFile: string): Promise<Finished> {
  return new Promise((resolve, reject) => {
    const stdout: Buffer[] = [];
    const stderr: Buffer[] = [];
    child.stdout?.on("data", (chunk: Buffer) => stdout.push(chunk));
    child.stderr?.on("data", (chunk: Buffer) => stderr.push(chunk));
    let late = false;
    const timer = setTimeout(() => {
      late = true;
      // Hooks run in process groups of their own: a first, polite signal lets the program end them.
      signalGroup(child, "SIGTERM");
      setTimeout(() => signalGroup(child, "SIGKILL"), 2_000).unref();
    }, timeoutMs);
    child.once("error", (error) => {
      clearTimeout(timer);
      reject(error);
    });
    child.once("close", (exitCode) => {
      clearTimeout(timer);
      signalGroup(child, "SIGKILL");
      const tail = read(debugFile).split("\n").slice(-20).join("\n");
      if (late) return reject(new Error(`Claude Code was still running after ${timeoutMs} ms:\n${tail}`));
      resolve({ exitCode, stdout: String(Buffer.concat(stdout)), stderr: String(Buffer.concat(stderr)) });
    });
  });
}

function signalGroup(child: ChildProcess, signal: NodeJS.Signals): void {
  if (child.pid === undefined) return;
  try {
    process.kill(-child.pid, signal);
  } catch {
    // The group is gone already.
  }
}

/** Serves the answers of recorder plugins: their hooks post what they read and print what comes back. */
async function startAnswers(hooks: HookAnswers | undefined) {
  const errors: Error[] = [];
  const server = createServer(async (request, response) => {
    try {
      const chunks: Buffer[] = [];
      for await (const chunk of request) chunks.push(chunk as Buffer);
      const plugin = request.url?.split("/")[1] ?? "";
      const answer = await hooks?.(JSON.parse(String(Buffer.concat(chunks))) as HookInput, plugin);
      response.end(answer === undefined ? "" : JSON.stringify(answer));
    } catch (error) {
      errors.push(error instanceof Error ? error : new Error(String(error)));
      response.end();
    }
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve());
      server.closeAllConnections();
    });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, errors, close };
}

function transcriptDir(configDir: string, sessionId: string): string {
  const projects = join(configDir, "projects");
  const folders = existsSync(projects) ? readdirSync(projects).map((name) => join(projects, name)) : [];
  const found = folders.find((folder) => existsSync(join(folder, `${sessionId}.jsonl`)));
  return join(found ?? projects, sessionId);
}

function lines(text: string): Record<string, unknown>[] {
  return text.split("\n").flatMap((line) => (line.startsWith("{") ? [JSON.parse(line)] : []));
}

function read(path: string): string {
  return existsSync(path) ? readFileSync(path, "utf8") : "";
}
