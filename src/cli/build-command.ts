import { buildAgentCall } from "../payload/agent-call.ts";
import { buildPayload } from "../payload/build-payload.ts";
import { showValue } from "../payload/show-value.ts";
import { formatTraceId, isRun, traceDate } from "../payload/trace-id.ts";
import type { AgentPlace } from "../roles/agent-places.ts";
import type { BuildArguments } from "./build-arguments.ts";
import { parseBuildJson } from "./build-json.ts";
import { parseBuildOptions } from "./build-options.ts";
import type { CommandResult } from "./command-result.ts";
import { decodeText } from "./decode-text.ts";
import { loadRole } from "./load-role.ts";
import { nameArguments } from "./named-problems.ts";
import { pickRole } from "./pick-role.ts";
import { readSources, type SourceIo } from "./text-sources.ts";

/** What `build` needs of the world. */
export type BuildIo = SourceIo & {
  now: () => Date;
  /** six of 0-9a-z */
  random: () => string;
  /** the folder of the plugin's agent files */
  agentsDir: string;
  /** the project's and the user's folders of agent files */
  places: readonly AgentPlace[];
  /** the plugin's name in its manifest */
  pluginName: string;
};

/** DESIGN, "Budgets": a prompt's tokens are estimated as its bytes / 4. */
const BYTES_A_TOKEN = 4;

/** How the arguments came, so that errors name them as they were written and come back in kind. */
type Style = "options" | "json";

/**
 * `spawn-guard build`: prints one object {agent_call, agent_input, spawn_payload, validation}. Writes
 * nothing and starts nothing. Exit codes: 0 done, 1 refused, 2 wrong usage.
 *
 * @param argv what follows `build`
 */
export function runBuild(argv: readonly string[], io: BuildIo): CommandResult {
  const options = parseBuildOptions(argv);
  switch (options.kind) {
    case "help":
      return { exitCode: 0, stdout: options.text, stderr: "" };
    case "usage":
      return failure(2, options.problem, argv.includes("--json") ? "json" : "options");
    case "json":
      return runJson(options.state, io);
    case "arguments":
      return build(options.arguments, io, "options");
  }
}

function runJson(state: BuildArguments["state"], io: BuildIo): CommandResult {
  if (io.readStdin === null)
    return failure(2, "--json needs standard input, which is not there; use options instead", "json");
  const parsed = parseBuildJson(decodeText(io.readStdin()).text);
  if (parsed.kind !== "arguments")
    return failure(2, parsed.kind === "usage" ? parsed.problem : parsed.text, "json");
  const given = parsed.arguments;
  if (state !== undefined && given.state !== undefined)
    return failure(2, "state is given twice, on standard input and as --state; give it once", "json");
  return build({ ...given, state: state ?? given.state }, io, "json");
}

function build(given: BuildArguments, io: BuildIo, style: Style): CommandResult {
  const { run, seq } = given;
  if ((run === undefined) !== (seq === undefined))
    return failure(2, "run and seq name a spawn together; give both or neither", style);
  if (run !== undefined && !isRun(run))
    return failure(1, `run is ${showValue(run)}; it has to be six of 0-9a-z, as in abc123`, style);
  if (seq !== undefined && !(Number.isSafeInteger(seq) && seq >= 0))
    return failure(1, `seq is ${seq}; it has to be a whole number, 0 to ${Number.MAX_SAFE_INTEGER}`, style);

  const picked = pickRole(given.role, given.stack);
  if (!picked.ok) return failure(1, picked.problem, style);
  const loaded = loadRole(picked.name, io.agentsDir, io.places);
  if (!loaded.ok) return failure(1, loaded.problem, style);
  const sources = readSources(given, io);
  if (!sources.ok) return failure(1, sources.problem, style);

  const { role } = loaded;
  const now = io.now();
  const wrappedAt = now.toISOString();
  const built = buildPayload({
    ...given,
    role,
    traceId: formatTraceId({ date: traceDate(now), run: run ?? io.random(), seq: seq ?? 1 }),
    state: sources.state,
    untrusted: sources.untrusted,
    wrappedAt,
    roleWarnings: loaded.warnings,
  });
  if (!built.ok) return failure(1, nameArguments(built.problems, style), style);

  const { payload } = built;
  const { untrusted } = sources;
  const call = buildAgentCall({ payload, role, pluginName: io.pluginName, untrusted, wrappedAt });
  const choice = picked.warning === null ? [] : [picked.warning];
  const warnings = [...choice, ...built.warnings, ...sources.warnings];
  const tokens = Math.ceil(Buffer.byteLength(call.agentInput.prompt) / BYTES_A_TOKEN);
  if (tokens > payload.budget.max_input_tokens)
    warnings.push(
      `the prompt alone is about ${tokens} tokens of max_input_tokens ${payload.budget.max_input_tokens}; raise the limit or shorten the texts`,
    );
  const result = {
    agent_call: call.agentCall,
    agent_input: call.agentInput,
    spawn_payload: payload,
    validation: warnings.length === 0 ? "ok" : `warnings: ${JSON.stringify(warnings)}`,
  };
  return { exitCode: 0, stdout: `${JSON.stringify(result, null, 2)}\n`, stderr: "" };
}

function failure(exitCode: 1 | 2, problem: string, style: Style): CommandResult {
  const stderr = style === "json" ? JSON.stringify({ error: problem }) : `spawn-guard build: ${problem}`;
  return { exitCode, stdout: "", stderr: `${stderr}\n` };
}
