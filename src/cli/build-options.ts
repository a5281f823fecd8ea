import { Command, Option } from "commander";
import { showValue } from "../payload/show-value.ts";
import type { BuildArguments, ParsedArguments } from "./build-arguments.ts";
import { readCommandLine } from "./command-line.ts";

/** `json`: the arguments are on standard input, the state perhaps in a file of its own. */
export type ParsedOptions = ParsedArguments | { kind: "json"; state: BuildArguments["state"] };

/** The schema's, where it has any; the payload's check says the role's. */
const BOUNDS = {
  "max-tokens": "100 to 200000",
  "max-output": "50 to the role's own cap",
  "max-tool-calls": "1 to 100",
  "max-turns": "1 to the role's own maxTurns",
  "timeout-ms": "30000 to 3600000",
  seq: `0 to ${Number.MAX_SAFE_INTEGER}`,
} as const;

/** Option → what it takes and what it is for, in the order of the help. */
const OPTIONS = {
  role: ["<role>", "who does the work: a role that `spawn-guard roles` lists; left out, --stack chooses"],
  task: ["<text>", "what is to be done, 10 to 1000 characters"],
  stack: ["<name>", "a technology to keep to; becomes a constraint"],
  "max-tokens": ["<n>", `input tokens, ${BOUNDS["max-tokens"]}`],
  "max-output": ["<n>", `tokens of the last message, ${BOUNDS["max-output"]}`],
  "max-tool-calls": ["<n>", `tool calls, ${BOUNDS["max-tool-calls"]}`],
  "max-turns": ["<n>", `turns, ${BOUNDS["max-turns"]}`],
  "timeout-ms": ["<n>", `running time in milliseconds, ${BOUNDS["timeout-ms"]}`],
  "parent-trace-id": ["<id>", "the spawn that makes the call, when a subagent does"],
  run: ["<id>", "the workflow run's six of 0-9a-z, with --seq"],
  seq: ["<n>", "the spawn's number in the run, with --run"],
  constraint: ["<text>", "a condition of 5 or more characters; repeatable"],
  state: ["<file>", "a JSON object for state_slice, or what context --json prints; - reads standard input"],
  untrusted: ["<label=file>", "a text that somebody else wrote, such as L0:issue=FILE; repeatable"],
} as const;

type OptionName = keyof typeof OPTIONS;

class WrongOption extends Error {}

/** Reads the options of `spawn-guard build`; touches neither files nor the process. */
export function parseBuildOptions(argv: readonly string[]): ParsedOptions {
  const given = new Map<OptionName, string[]>();
  const command = defineBuild(given);
  const line = readCommandLine(command, argv);
  if (line.kind !== "read") return line;
  try {
    return toArguments(given, command);
  } catch (error) {
    if (error instanceof WrongOption) return { kind: "usage", problem: error.message };
    throw error;
  }
}

function defineBuild(given: Map<OptionName, string[]>): Command {
  const command = new Command("spawn-guard build")
    .description("Builds a spawn payload and the Agent call that carries it. Writes nothing, starts nothing.")
    .allowExcessArguments(true);
  for (const name of optionNames()) {
    const [takes, purpose] = OPTIONS[name];
    const collect = (value: string): void => {
      given.set(name, [...(given.get(name) ?? []), value]);
    };
    command.addOption(new Option(`--${name} ${takes}`, purpose).argParser(collect));
  }
  return command.option(
    "--json",
    "read the arguments as one JSON object from standard input; only --state FILE may stand beside it",
  );
}

function optionNames(): OptionName[] {
  const isName = (name: string): name is OptionName => Object.hasOwn(OPTIONS, name);
  return Object.keys(OPTIONS).filter(isName);
}

function toArguments(given: Map<OptionName, string[]>, command: Command): ParsedOptions {
  const [extra] = command.args;
  if (extra !== undefined)
    throw new WrongOption(`unexpected text ${showValue(extra)}; put a value with spaces into quotes`);
  const one = (name: OptionName) => single(name, given.get(name) ?? []);
  if (command.opts<{ json?: true }>().json === true) {
    const state = stateSource(one("state"));
    if ([...given.keys()].some((name) => name !== "state") || state?.from === "stdin")
      throw new WrongOption(
        "--json takes every argument from standard input, and only --state FILE beside it; leave the other options out",
      );
    return { kind: "json", state };
  }
  const role = one("role");
  const task = one("task");
  const stack = one("stack");
  if (role === undefined && stack === undefined)
    throw new WrongOption(
      "--role is missing; `spawn-guard roles` lists the roles, and --stack can choose one",
    );
  if (task === undefined)
    throw new WrongOption("--task is missing; say in 10 to 1000 characters what is to be done");
  return {
    kind: "arguments",
    arguments: {
      role,
      task,
      stack,
      maxTokens: wholeNumber("max-tokens", one("max-tokens")),
      maxOutput: wholeNumber("max-output", one("max-output")),
      maxToolCalls: wholeNumber("max-tool-calls", one("max-tool-calls")),
      maxTurns: wholeNumber("max-turns", one("max-turns")),
      timeoutMs: wholeNumber("timeout-ms", one("timeout-ms")),
      parentTraceId: one("parent-trace-id"),
      run: one("run"),
      seq: wholeNumber("seq", one("seq")),
      constraints: given.get("constraint") ?? [],
      state: stateSource(one("state")),
      untrusted: (given.get("untrusted") ?? []).map(labelledFile),
    },
  };
}

function single(name: OptionName, values: readonly string[]): string | undefined {
  if (values.length > 1) throw new WrongOption(`--${name} is given ${values.length} times; give it once`);
  return values[0];
}

function wholeNumber(name: keyof typeof BOUNDS, value: string | undefined): number | undefined {
  if (value === undefined) return undefined;
  if (!/^-?\d+$/.test(value) || !Number.isSafeInteger(Number(value)))
    throw new WrongOption(`--${name} is ${showValue(value)}; write a whole number, ${BOUNDS[name]}`);
  return Number(value);
}

function stateSource(value: string | undefined): BuildArguments["state"] {
  if (value === undefined) return undefined;
  return value === "-" ? { from: "stdin" } : { from: "file", path: value };
}

function labelledFile(value: string): BuildArguments["untrusted"][number] {
  const at = value.indexOf("=");
  if (at < 1 || at === value.length - 1)
    throw new WrongOption(`--untrusted is ${showValue(value)}; write LABEL=FILE`);
  return { label: value.slice(0, at), text: { from: "file", path: value.slice(at + 1) } };
}
