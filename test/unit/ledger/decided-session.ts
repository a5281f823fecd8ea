import { appendFileSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach } from "vitest";
import type { Answer } from "../../../src/hooks/answer.ts";
import { HookContext } from "../../../src/hooks/hook-context.ts";
import { Ledger } from "../../../src/ledger/ledger.ts";
import { newSession, type SessionState, type Slot } from "../../../src/ledger/session-state.ts";
import type { SpawnRecord } from "../../../src/ledger/spawn-record.ts";
import { handleEvent } from "../../support/handle-event.ts";
import { HookSession } from "../../support/hook-session.ts";

type Json = Record<string, unknown>;

/** A session whose events are decided in this process, at a time that the test sets. */
export class DecidedSession extends HookSession {
  /** milliseconds since the epoch */
  now = Date.now();
  private messages = 0;

  /** Decides about an event, one millisecond after the one before. */
  async decide(event: Json): Promise<Answer> {
    this.now += 1;
    return handleEvent(event, new HookContext(this.environment, this.now));
  }

  /** Admits an Agent call and binds an agent to it, as the host does for a background spawn. */
  async running(call: string, agent: string, by: Json = {}, input: Json = {}): Promise<SpawnRecord> {
    const answer = await this.decide(this.agentCall(call, by, input));
    if (answer.deny !== undefined) throw new Error(answer.deny);
    await this.decide(this.launched(call, agent, by));
    return this.spawnOfCall(call);
  }

  /** A tool call of an agent; `Read` unless said otherwise. */
  toolCall(agent: string, members: Json = {}): Json {
    return this.event("PreToolUse", {
      agent_id: agent,
      agent_type: "general-purpose",
      tool_name: "Read",
      tool_use_id: `r-${agent}`,
      tool_input: { file_path: "x" },
      ...members,
    });
  }

  agentEvent(name: string, agent: string, members: Json = {}): Json {
    return this.event(name, { agent_id: agent, agent_type: "general-purpose", ...members });
  }

  /** What the host writes beside an agent's transcript. */
  sidecar(agent: string, content: Json | string, folder = this.subagents): void {
    mkdirSync(folder, { recursive: true });
    const text = typeof content === "string" ? content : JSON.stringify(content);
    writeFileSync(join(folder, `agent-${agent}.meta.json`), text);
  }

  /** Adds a message to an agent's transcript, as the host writes it: what went in and out, in tokens. */
  message(agent: string, input: number, output: number): void {
    mkdirSync(this.subagents, { recursive: true });
    const usage = { input_tokens: input, output_tokens: output };
    const content = [{ type: "text", text: "so far" }];
    this.messages += 1;
    const line = {
      type: "assistant",
      message: { id: `msg_${this.messages}`, content, stop_reason: "tool_use", usage },
    };
    appendFileSync(join(this.subagents, `agent-${agent}.jsonl`), `${JSON.stringify(line)}\n`);
  }

  /** The ledger itself, as a hook at this time would open it. */
  open(): Ledger {
    return new Ledger({
      dataFolder: this.data,
      sessionId: this.sessionId,
      deadline: Date.now() + 5000,
      newSession: () => newSession("abc123", 0, "*"),
    });
  }

  get state(): SessionState {
    return this.ledger().session;
  }

  slot(trace: string): Slot | undefined {
    return this.state.running[trace];
  }

  spawnOfCall(call: string): SpawnRecord {
    return this.one((spawn) => spawn.call === call, `call ${call}`);
  }

  spawnOfAgent(agent: string): SpawnRecord {
    return this.one((spawn) => spawn.agent === agent && spawn.mergedInto === null, `agent ${agent}`);
  }

  get folder(): string {
    return join(this.data, "sessions", this.sessionId);
  }

  /** Writes over the newest `versions` of one of the ledger's cells, all of them unless said otherwise. */
  damage(cell: string, versions = Number.POSITIVE_INFINITY): string[] {
    const folder = join(this.folder, cell);
    const numbers = readdirSync(folder)
      .flatMap((name) => /^(\d+)\.json$/.exec(name)?.[1] ?? [])
      .map(Number)
      .sort((a, b) => b - a);
    const files = numbers.slice(0, versions).map((number) => join(folder, `${number}.json`));
    for (const file of files) writeFileSync(file, "torn");
    return files;
  }

  /** Puts a file into the ledger's folder. */
  put(name: string, text: string): void {
    writeFileSync(join(this.folder, name), text);
  }

  private one(is: (spawn: SpawnRecord) => boolean, what: string): SpawnRecord {
    const [spawn, ...others] = this.ledger().spawns.filter(is);
    if (spawn === undefined || others.length > 0) {
      throw new Error(`${others.length + (spawn === undefined ? 0 : 1)} spawns of ${what}`);
    }
    return spawn;
  }
}

/** Makes sessions that are removed after each test. */
export function decidedSessions(): (options?: Record<string, string | number>) => DecidedSession {
  let open: DecidedSession[] = [];
  afterEach(() => {
    for (const session of open) session.remove();
    open = [];
  });
  return (options = {}) => {
    const session = new DecidedSession(undefined, options);
    open.push(session);
    return session;
  };
}
