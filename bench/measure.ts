import { randomUUID } from "node:crypto";
import { mkdirSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { HookSession } from "../test/support/hook-session.ts";
import { alternate, type Command, type Cost } from "./alternate.ts";
import { instructions } from "./instructions.ts";
import { largeTranscript } from "./large-transcript.ts";
import { endRunning, manySpawns } from "./many-spawns.ts";
import { peakMemory } from "./peak-memory.ts";
import { ROWS, type RowId } from "./rows.ts";
import { type StormCost, storm } from "./storm.ts";

export type Result = { id: RowId; ratio: number; cost: Cost; base: Cost };

export type Results = {
  rows: Result[];
  /** MB at most in memory at once */
  memory: { node: number; spawn: number; metered: number; firstRead: number };
  /** millions; null where the machine cannot count them */
  instructions: { node: number; spawn: number; metered: number } | null;
  storm: StormCost;
};

const plugin = resolve("plugin");
const bare = { PATH: process.env.PATH ?? "" };
/** As the host is started: what stands in a person's environment is in every hook's. tsx leaves a trace of its own. */
const { NODE_OPTIONS: _, ...here } = process.env;
const node = (env: NodeJS.ProcessEnv): Command => ({ file: process.execPath, args: ["-e", "0"], env });
const AGENT = { agent_id: "a1", agent_type: "general-purpose" };
const READ = { tool_name: "Read", tool_input: { file_path: "x" }, ...AGENT };
const WIDE = { max_spawns_per_session: 1_000_000, max_concurrent_spawns: 1000 };

/** One run of everything; each row's commands take turns. */
export async function measure(rounds: number): Promise<Results> {
  const sessions: HookSession[] = [];
  const newSession = () => {
    const session = new HookSession(randomUUID(), WIDE);
    sessions.push(session);
    return session;
  };
  try {
    return await measureIn(newSession, rounds);
  } finally {
    for (const session of sessions) session.remove();
  }
}

async function measureIn(newSession: () => HookSession, rounds: number): Promise<Results> {
  const quiet = newSession();
  const working = await withAgent(newSession());
  const crowded = newSession();
  await manySpawns(crowded, 10_000);
  const beside = newSession();
  agentFiles(beside, 3_000);
  const read = await withAgent(newSession());
  largeTranscript(read, "a1", 100);

  const floor = node(bare);
  const spawn = decision(quiet, bare);
  const metered = hook(working, "pre-tool-use", ["agent_id"], { ...READ, tool_use_id: "r1" });
  const again = hook(read, "pre-tool-use", ["agent_id"], { ...READ, tool_use_id: "r1" });
  const firstRead = memoryOf(read, { ...READ, tool_use_id: "r0" });
  const { agent_id: _id, agent_type: _type, ...main } = READ;
  const batch = { tool_calls: [{ ...READ, tool_use_id: "r1" }], ...AGENT };
  const task = "implement OAuth2 login form per src/auth/spec.md";
  const build = ["cli/spawn-guard.cjs", "build", "--role", "qa-engineer", "--task", task];

  const pairs: Record<RowId, [Command, Command]> = {
    spawn: [spawn, floor],
    metered: [metered, floor],
    batch: [hook(working, "post-tool-batch", ["agent_id"], batch, "PostToolBatch"), floor],
    main: [hook(working, "pre-tool-use", ["agent_id"], { ...main, tool_use_id: "r1" }), floor],
    many: [decision(crowded, bare), spawn],
    agents: [decision(beside, bare), spawn],
    large: [again, metered],
    build: [
      { file: process.execPath, args: [join(plugin, build[0] ?? ""), ...build.slice(1)], env: bare },
      floor,
    ],
    "spawn-here": [decision(quiet, here), node(here)],
    "metered-here": [{ ...metered, env: { ...here, ...working.environment } }, node(here)],
  };
  // An admitted spawn has ended when the next is asked for, and no two calls are the same.
  const of = new Map([quiet, crowded, beside].map((session) => [session.sessionId, session]));
  const refresh = (command: Command) => {
    const { session_id: id, tool_name: tool } = JSON.parse(command.input ?? "{}");
    const session = tool === "Agent" ? of.get(id) : undefined;
    if (session === undefined) return;
    endRunning(session);
    command.input = JSON.stringify(session.agentCall(randomUUID()));
  };
  const rows = ROWS.map(({ id }): Result => {
    const pair = pairs[id];
    const [cost, base] = alternate(pair, rounds, (index) => refresh(pair[index] ?? floor));
    if (cost === undefined || base === undefined) throw new Error(`${id} was not measured`);
    return { id, ratio: cost.wall / base.wall, cost, base };
  });
  const counted = [floor, spawn, metered].map((command) => {
    refresh(command);
    return instructions(command);
  });
  const [forNode = null, forSpawn = null, forMetered = null] = counted;
  return {
    rows,
    memory: {
      node: peakMemory(["-e", "0"], "", bare),
      spawn: memoryOf(quiet, quiet.agentCall(randomUUID()), "pre-tool-use-agent"),
      metered: memoryOf(working, { ...READ, tool_use_id: "r2" }),
      firstRead,
    },
    instructions:
      forNode === null || forSpawn === null || forMetered === null
        ? null
        : { node: forNode, spawn: forSpawn, metered: forMetered },
    storm: await storm(plugin, bare),
  };
}

async function withAgent(session: HookSession): Promise<HookSession> {
  await session.send(session.agentCall("t1"));
  await session.send(session.launched("t1", "a1"));
  return session;
}

function agentFiles(session: HookSession, count: number): void {
  const folder = join(session.project, ".claude/agents");
  mkdirSync(folder, { recursive: true });
  const body = "Says at some length what this agent does and how.\n".repeat(80);
  for (let index = 0; index < count; index++) {
    const header = `name: agent-${index}\ndescription: does one of many things\ntools: Read, Grep`;
    writeFileSync(join(folder, `agent-${index}.md`), `---\n${header}\n---\n${body}`);
  }
}

function decision(session: HookSession, env: NodeJS.ProcessEnv): Command {
  const event = session.agentCall(randomUUID());
  const args = [join(plugin, "hooks/run.sh"), "pre-tool-use-agent.cjs"];
  return { file: "sh", args, input: JSON.stringify(event), env: { ...env, ...session.environment } };
}

function hook(
  session: HookSession,
  script: string,
  words: readonly string[],
  members: Record<string, unknown>,
  name = "PreToolUse",
): Command {
  const args = [join(plugin, "hooks/run.sh"), `${script}.cjs`, ...words.map((word) => `"${word}"`)];
  const input = JSON.stringify(session.event(name, members));
  return { file: "sh", args, input, env: { ...bare, ...session.environment } };
}

function memoryOf(session: HookSession, members: Record<string, unknown>, script = "pre-tool-use"): number {
  const event = { ...session.event("PreToolUse", members) };
  const args = [join(plugin, "hooks/start.cjs"), `${script}.cjs`];
  return peakMemory(args, JSON.stringify(event), { ...bare, ...session.environment });
}
