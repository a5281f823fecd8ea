import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join, resolve } from "node:path";
import { Ledger } from "../../src/ledger/ledger.ts";
import { newSession, type SessionState } from "../../src/ledger/session-state.ts";
import type { SpawnRecord } from "../../src/ledger/spawn-record.ts";
import { matchesTool } from "./host-matcher.ts";

type Json = Record<string, unknown>;
type Handler = { command: string; args: string[]; timeout: number };
type HooksFile = { hooks: Record<string, { matcher?: string; hooks: Handler[] }[]> };

export type HookResult = { exitCode: number | null; stdout: string; stderr: string; json: Json | null };

const PLUGIN = resolve("plugin");

/**
 * A session of the host as the hooks see it: events go to the commands of hooks.json, as processes, by the host's
 * rules for matchers.
 */
export class HookSession {
  readonly root = mkdtempSync(join(tmpdir(), "spawn-guard-"));
  readonly project = this.root;
  readonly data = join(this.root, "data");
  readonly environment: Record<string, string>;
  private readonly hooks: HooksFile["hooks"];

  constructor(
    readonly sessionId = "5e551000-0000-4000-8000-00000000beef",
    options: Record<string, string | number> = {},
    private readonly plugin = PLUGIN,
  ) {
    const file: HooksFile = JSON.parse(readFileSync(join(plugin, "hooks/hooks.json"), "utf8"));
    this.hooks = file.hooks;
    const values = Object.entries(options).map(([key, value]) => [
      `CLAUDE_PLUGIN_OPTION_${key.toUpperCase()}`,
      String(value),
    ]);
    this.environment = {
      PATH: process.env.PATH ?? "",
      HOME: this.root,
      CLAUDE_CONFIG_DIR: join(this.root, "config"),
      CLAUDE_PROJECT_DIR: this.project,
      CLAUDE_PLUGIN_ROOT: plugin,
      CLAUDE_PLUGIN_DATA: this.data,
      ...Object.fromEntries(values),
    };
  }

  /** The folder of the subagents' transcripts and sidecars. */
  get subagents(): string {
    return join(this.root, this.sessionId, "subagents");
  }

  event(name: string, members: Json = {}): Json {
    return {
      session_id: this.sessionId,
      transcript_path: join(this.root, `${this.sessionId}.jsonl`),
      cwd: this.project,
      hook_event_name: name,
      ...members,
    };
  }

  agentCall(call: string, members: Json = {}, input: Json = {}): Json {
    const tool_input = {
      description: "a part of it",
      prompt: "look at one part",
      subagent_type: "general-purpose",
      ...input,
    };
    return this.event("PreToolUse", { tool_name: "Agent", tool_use_id: call, tool_input, ...members });
  }

  launched(call: string, agentId: string, members: Json = {}): Json {
    return this.event("PostToolUse", {
      tool_name: "Agent",
      tool_use_id: call,
      tool_input: {},
      tool_response: { status: "async_launched", agentId },
      ...members,
    });
  }

  /** Sends an event to every handler that matches it and gives back what they answered. */
  async send(event: Json): Promise<HookResult[]> {
    const handlers = this.matching(String(event.hook_event_name), event.tool_name);
    return Promise.all(handlers.map((handler) => this.run(handler, JSON.stringify(event))));
  }

  /** Sends an event that exactly one handler takes. */
  async ask(event: Json): Promise<HookResult> {
    const [result, ...others] = await this.send(event);
    if (result === undefined || others.length > 0) throw new Error("not exactly one handler took the event");
    return result;
  }

  /** Runs the handler of an Agent call on raw bytes. */
  async raw(input: Uint8Array | string, event = "PreToolUse", tool = "Agent"): Promise<HookResult> {
    const [handler] = this.matching(event, tool);
    if (handler === undefined) throw new Error(`no handler for ${event} of ${tool}`);
    return this.run(handler, input);
  }

  ledger(): { session: SessionState; spawns: SpawnRecord[] } {
    return this.ledgerOf(this.sessionId);
  }

  /** What the data folder of this session says of another. */
  ledgerOf(sessionId: string): { session: SessionState; spawns: SpawnRecord[] } {
    const ledger = new Ledger({
      dataFolder: this.data,
      sessionId,
      deadline: Date.now() + 5000,
      newSession: () => newSession("unused", 0, "*"),
    });
    const session = ledger.session();
    if (session === null) throw new Error("the session has no ledger yet");
    return { session, spawns: ledger.allRecords() };
  }

  remove(): void {
    rmSync(this.root, { recursive: true, force: true });
  }

  private matching(event: string, tool: unknown): Handler[] {
    return (this.hooks[event] ?? [])
      .filter(({ matcher }) => matchesTool(matcher, tool))
      .flatMap(({ hooks: handlers }) => handlers);
  }

  private run(handler: Handler, input: Uint8Array | string): Promise<HookResult> {
    const args = handler.args.map((argument) => argument.replaceAll("${CLAUDE_PLUGIN_ROOT}", this.plugin));
    const child = spawn(handler.command, args, { env: this.environment, cwd: this.project });
    let stdout = "";
    let stderr = "";
    child.stdout.setEncoding("utf8").on("data", (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    // A handler that needs no input may be gone before all of it is written.
    child.stdin.on("error", () => {});
    child.stdin.end(input);
    return new Promise((done, failed) => {
      child.on("error", failed);
      child.on("close", (exitCode) =>
        done({ exitCode, stdout, stderr, json: stdout === "" ? null : JSON.parse(stdout) }),
      );
    });
  }
}

export function denial(result: HookResult): string | null {
  const output = result.json?.hookSpecificOutput as Json | undefined;
  return output?.permissionDecision === "deny" ? String(output.permissionDecisionReason) : null;
}

export function updatedInput(result: HookResult): Json | null {
  const output = result.json?.hookSpecificOutput as Json | undefined;
  return (output?.updatedInput as Json | undefined) ?? null;
}

/** The payload in the prompt that a hook handed on. */
export function attachedPayload(result: HookResult): Json {
  const prompt = String(updatedInput(result)?.prompt);
  const block = /^<spawn_payload>\n(.*)\n<\/spawn_payload>$/m.exec(prompt);
  return JSON.parse(block?.[1] ?? "null");
}
