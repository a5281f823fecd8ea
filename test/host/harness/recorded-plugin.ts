import { copyFileSync, cpSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { basename, join } from "node:path";
import { temporaryFolder } from "./temporary-folder.ts";

/** What a hook reads on its standard input, as far as tests look at it. */
export interface HookInput {
  session_id: string;
  transcript_path: string;
  cwd: string;
  hook_event_name: string;
  agent_id?: string;
  agent_type?: string;
  tool_name?: string;
  tool_input?: Record<string, unknown>;
  tool_use_id?: string;
  [key: string]: unknown;
}

/** One run of one hook handler, as the wrapper around it saw it. */
export interface HookCall {
  /** When the handler started, in milliseconds since 1970. */
  t: number;
  plugin: string;
  event: string;
  input: HookInput;
  /** `agent-<id>.meta.json` of the acting subagent at that moment; null when it was not there. */
  sidecar: Record<string, unknown> | null;
  /** The JSON that the handler printed; null when it printed nothing, or no JSON. */
  stdout: Record<string, unknown> | null;
  stderr: string;
  /** null when the host ended the handler. */
  exitCode: number | null;
  ms: number;
  env: Record<string, string>;
}

interface Handler {
  type: string;
  command?: string;
  args?: string[];
  [key: string]: unknown;
}

export interface HooksFile {
  hooks: Record<string, { matcher?: string; hooks: Handler[] }[]>;
  [key: string]: unknown;
}

const TEE = ".record/tee.sh";

/**
 * A temporary copy of a plugin in which every command handler is wrapped so that `runClaude` can tell
 * what each one read and answered (`run.hookCalls`). Everything else about a handler stays as it is.
 */
export function recordedPlugin(pluginDir: string): string {
  const copy = join(temporaryFolder("plugin"), basename(pluginDir));
  cpSync(pluginDir, copy, { recursive: true });
  const path = join(copy, "hooks/hooks.json");
  const file = JSON.parse(readFileSync(path, "utf8")) as HooksFile;
  writeFileSync(path, JSON.stringify(recorded(file, pluginName(pluginDir)), null, 2));
  addTee(copy);
  return copy;
}

/** The name in the plugin's manifest. */
export function pluginName(pluginDir: string): string {
  const manifest = readFileSync(join(pluginDir, ".claude-plugin/plugin.json"), "utf8");
  return (JSON.parse(manifest) as { name: string }).name;
}

function recorded(file: HooksFile, plugin: string): HooksFile {
  const hooks = Object.entries(file.hooks).map(([event, groups]) => {
    const wrapped = groups.map((group) => ({
      ...group,
      hooks: group.hooks.map((handler) => wrap(handler, plugin, event)),
    }));
    return [event, wrapped] as const;
  });
  return { ...file, hooks: Object.fromEntries(hooks) };
}

function wrap(handler: Handler, plugin: string, event: string): Handler {
  if (handler.type !== "command" || handler.command === undefined) return handler;
  const inner =
    handler.args === undefined
      ? ["shell", Buffer.from(handler.command).toString("base64")]
      : ["exec", handler.command, ...handler.args];
  return { ...handler, ...teeHandler(plugin, event, inner) };
}

/** A handler that runs the wrapper; `["ask"]` gets its answer from the `hooks` option of `runClaude`. */
export function teeHandler(plugin: string, event: string, inner: string[]): Handler {
  const args = [`\${CLAUDE_PLUGIN_ROOT}/${TEE}`, plugin, event, ...inner];
  return { type: "command", command: "/bin/sh", args };
}

/** Puts the wrapper into a plugin folder. */
export function addTee(pluginDir: string): void {
  mkdirSync(join(pluginDir, ".record"), { recursive: true });
  copyFileSync(join(import.meta.dirname, "hook-tee.mjs"), join(pluginDir, ".record/tee.mjs"));
  // The wrapper's own Node must not be bent by a NODE_OPTIONS that is meant for the handler.
  const script = `if [ -n "\${NODE_OPTIONS+set}" ]; then
  SPAWN_GUARD_TEE_NODE_OPTIONS=$NODE_OPTIONS; export SPAWN_GUARD_TEE_NODE_OPTIONS; unset NODE_OPTIONS
fi
exec "${process.execPath}" "\${0%.sh}.mjs" "$@"
`;
  writeFileSync(join(pluginDir, TEE), script);
}
