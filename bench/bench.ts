import { randomUUID } from "node:crypto";
import { join, resolve } from "node:path";
import { HookSession } from "../test/support/hook-session.ts";
import { type Command, medians } from "./alternate.ts";
import { largeTranscript } from "./large-transcript.ts";
import { endRunning, manySpawns } from "./many-spawns.ts";
import { peakMemory } from "./peak-memory.ts";

/**
 * Prints DESIGN's table of ratios, each measured in one run of alternating commands. `npm run bench -- 50` does 50
 * rounds of each pair.
 */
const rounds = Number(process.argv[2] ?? 40);
const plugin = resolve("plugin");
/** As the host is started: what stands in a person's environment is in every hook's. tsx leaves a trace of its own. */
const { NODE_OPTIONS: _, ...environment } = process.env;
const floor: Command = { file: process.execPath, args: ["-e", "0"], env: environment };
/** Nothing there that slows Node's start down, such as NODE_EXTRA_CA_CERTS, which the hooks do without. */
const bare = { PATH: process.env.PATH ?? "" };
const bareFloor: Command = { ...floor, env: bare };
const sessions: HookSession[] = [];

function hookCommand(session: HookSession, script: string, words: readonly string[], event: object): Command {
  const args = [join(plugin, "hooks/run.sh"), `${script}.cjs`, ...words];
  return { file: "sh", args, input: JSON.stringify(event), env: { ...environment, ...session.environment } };
}

function inBare(command: Command, session: HookSession): Command {
  return { ...command, env: { ...session.environment, ...bare } };
}

function newSession(options: Record<string, number> = {}): HookSession {
  const session = new HookSession(randomUUID(), {
    max_spawns_per_session: 1_000_000,
    max_concurrent_spawns: 1000,
    ...options,
  });
  sessions.push(session);
  return session;
}

function report(name: string, [measured = Number.NaN, base = Number.NaN]: number[], limit: number): boolean {
  const ratio = measured / base;
  const held = ratio <= limit;
  console.log(
    `${name.padEnd(58)} ${ratio.toFixed(2).padStart(5)}  at most ${limit}  ${held ? "held" : "MISSED"}`,
  );
  return held;
}

function inform(name: string, [measured = Number.NaN, base = Number.NaN]: number[]): void {
  console.log(`${name.padEnd(58)} ${(measured / base).toFixed(2).padStart(5)}`);
}

const IN_SUBAGENT = ['"agent_id"'];

function spawnDecision(session: HookSession): Command {
  return hookCommand(session, "pre-tool-use-agent", [], session.agentCall(randomUUID()));
}

async function bench(): Promise<boolean> {
  const results: boolean[] = [];
  const quiet = newSession();
  const spawn = spawnDecision(quiet);
  results.push(report("spawn decision / node -e 0", fresh([spawn, floor], spawn, quiet), 1.2));
  const bareSpawn = inBare(spawn, quiet);
  inform("  in a bare environment", fresh([bareSpawn, bareFloor], bareSpawn, quiet));

  const working = newSession();
  await working.send(working.agentCall("t1"));
  await working.send(working.launched("t1", "a1"));
  const call = (agent: object) =>
    working.event("PreToolUse", {
      tool_name: "Read",
      tool_use_id: "r1",
      tool_input: { file_path: "x" },
      ...agent,
    });
  const metered = hookCommand(
    working,
    "pre-tool-use",
    IN_SUBAGENT,
    call({ agent_id: "a1", agent_type: "general-purpose" }),
  );
  results.push(
    report("metered tool call of a subagent / node -e 0", medians([metered, floor], rounds), 1.15),
  );
  inform("  in a bare environment", medians([inBare(metered, working), bareFloor], rounds));
  const main = hookCommand(working, "pre-tool-use", IN_SUBAGENT, call({}));
  results.push(report("main-thread tool call / node -e 0", medians([main, floor], rounds), 0.15));

  const read = newSession();
  await read.send(read.agentCall("t1"));
  await read.send(read.launched("t1", "a1"));
  largeTranscript(read, "a1", 100);
  const agent = { agent_id: "a1", agent_type: "general-purpose" };
  const firstRead = read.event("PreToolUse", {
    tool_name: "Read",
    tool_use_id: "r0",
    tool_input: { file_path: "x" },
    ...agent,
  });
  const hook = [join(plugin, "hooks/pre-tool-use.cjs")];
  const above =
    peakMemory(hook, JSON.stringify(firstRead), read.environment) - peakMemory(["-e", "0"], "", bare);
  console.log(
    `${"first read of 100 MB, memory above node -e 0".padEnd(58)} ${above.toFixed(0).padStart(4)} MB  at most 64`,
  );
  results.push(above <= 64);
  const again = hookCommand(read, "pre-tool-use", IN_SUBAGENT, { ...firstRead, tool_use_id: "r1" });
  results.push(
    report("metered call with 100 MB read / with an empty one", medians([again, metered], rounds), 1.1),
  );

  const crowded = newSession();
  await manySpawns(crowded, 10_000);
  const first = spawnDecision(crowded);
  const second = spawnDecision(quiet);
  results.push(
    report(
      "spawn decision with 10,000 earlier spawns / with none",
      fresh([first, second], first, crowded),
      1.1,
    ),
  );

  const task = "implement OAuth2 login form per src/auth/spec.md";
  const build = {
    file: process.execPath,
    args: [join(plugin, "cli/spawn-guard.cjs"), "build", "--role", "qa-engineer", "--task", task],
    env: environment,
  };
  results.push(report("spawn-guard build / node -e 0", medians([build, floor], rounds), 2));
  return results.every(Boolean);
}

/** The medians of commands of which `spawn` makes a new Agent call each time; the one before has ended by then. */
function fresh(commands: Command[], spawn: Command, session: HookSession): number[] {
  return medians(commands, rounds, (index) => {
    if (commands[index] !== spawn) return;
    endRunning(session);
    spawn.input = JSON.stringify(session.agentCall(randomUUID()));
  });
}

try {
  process.exitCode = (await bench()) ? 0 : 1;
} finally {
  for (const session of sessions) session.remove();
}
