import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { showValue } from "../payload/show-value.ts";
import type { BuildArguments, ParsedArguments } from "./build-arguments.ts";

type Options = Partial<Omit<BuildArguments, "constraints" | "state" | "untrusted">> & {
  constraint?: string[];
  state?: string;
  untrusted?: { label: string; path: string }[];
  json?: true;
};

/** `json`: the arguments are on standard input. */
export type ParsedOptions = ParsedArguments | { kind: "json" };

/** Reads the options of `spawn-guard build`; touches neither files nor the process. */
export function parseBuildOptions(argv: readonly string[]): ParsedOptions {
  let help = "";
  let problem = "";
  const command = defineBuild()
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        help += text;
      },
      writeErr: () => {},
      outputError: (text) => {
        problem = text.trim().replace(/^error: /, "");
      },
    });
  try {
    command.parse([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { kind: "help", text: help };
    return { kind: "usage", problem: `${problem}; spawn-guard build --help lists the options` };
  }
  const [extra] = command.args;
  if (extra !== undefined)
    return usage(`unexpected text ${showValue(extra)}; put a value with spaces into quotes`);
  return toArguments(command.opts<Options>());
}

function defineBuild(): Command {
  return new Command("spawn-guard build")
    .description("Builds a spawn payload and the Agent call that carries it. Writes nothing, starts nothing.")
    .allowExcessArguments(true)
    .addOption(text("--role <role>", "who does the work: a role that `spawn-guard roles` lists"))
    .addOption(text("--task <text>", "what is to be done, 10 to 1000 characters"))
    .addOption(text("--stack <name>", "a technology to keep to; becomes a constraint"))
    .addOption(number("--max-tokens <n>", "input tokens, 100 to 200000"))
    .addOption(number("--max-output <n>", "tokens of the last message, 50 to the role's own cap"))
    .addOption(number("--max-tool-calls <n>", "tool calls, 1 to 100"))
    .addOption(number("--max-turns <n>", "turns, 1 to the role's own maxTurns"))
    .addOption(number("--timeout-ms <n>", "running time in milliseconds, 30000 to 3600000"))
    .addOption(text("--parent-trace-id <id>", "the spawn that makes the call, when a subagent does"))
    .addOption(text("--run <id>", "the workflow run's six of 0-9a-z, with --seq"))
    .addOption(number("--seq <n>", "the spawn's number in the run, with --run"))
    .addOption(
      new Option("--constraint <text>", "a condition of 5 or more characters; repeatable").argParser(
        (value: string, previous: string[] | undefined) => [...(previous ?? []), value],
      ),
    )
    .addOption(text("--state <file>", "a JSON object for state_slice; - reads standard input"))
    .addOption(
      new Option("--untrusted <label=file>", "a text that somebody else wrote; repeatable").argParser(
        (value: string, previous: { label: string; path: string }[] | undefined) => [
          ...(previous ?? []),
          labelledFile(value),
        ],
      ),
    )
    .option("--json", "read the arguments as one JSON object from standard input");
}

function text(flags: string, description: string): Option {
  return new Option(flags, description).argParser((value: string, previous: string | undefined) => {
    if (previous !== undefined) throw new InvalidArgumentError("It is given twice; give it once.");
    return value;
  });
}

function number(flags: string, description: string): Option {
  return new Option(flags, description).argParser((value: string, previous: number | undefined) => {
    if (previous !== undefined) throw new InvalidArgumentError("It is given twice; give it once.");
    if (!/^-?\d+$/.test(value)) throw new InvalidArgumentError("Write a whole number, such as 30000.");
    return Number(value);
  });
}

function labelledFile(value: string): { label: string; path: string } {
  const at = value.indexOf("=");
  if (at < 1 || at === value.length - 1) throw new InvalidArgumentError("Write LABEL=FILE.");
  return { label: value.slice(0, at), path: value.slice(at + 1) };
}

function toArguments(options: Options): ParsedOptions {
  const { constraint, state, untrusted, json, role, task, ...rest } = options;
  if (json === true) {
    const [other] = Object.keys(options).filter((name) => name !== "json");
    return other === undefined
      ? { kind: "json" }
      : usage("--json takes every argument from standard input; leave the other options out");
  }
  if (role === undefined) return usage("--role is missing; `spawn-guard roles` lists the roles");
  if (task === undefined) return usage("--task is missing; say in 10 to 1000 characters what is to be done");
  return {
    kind: "arguments",
    arguments: {
      role,
      task,
      ...rest,
      constraints: constraint ?? [],
      ...(state === undefined
        ? {}
        : { state: state === "-" ? { from: "stdin" as const } : { from: "file" as const, path: state } }),
      untrusted: (untrusted ?? []).map(({ label, path }) => ({ label, text: { from: "file", path } })),
    },
  };
}

function usage(problem: string): ParsedOptions {
  return { kind: "usage", problem };
}
