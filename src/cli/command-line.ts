import { type Command, CommanderError } from "commander";
import { showValue } from "../payload/show-value.ts";

export type ReadLine =
  | { kind: "read" }
  | { kind: "help"; text: string }
  /** what is wrong, and how to find out what is right */
  | { kind: "usage"; problem: string };

/** Characters of commander's own messages, which quote what was given. */
const MESSAGE_MAX = 300;

/** Lets a command read its arguments, with help and errors as values: nothing is written, nothing exits. */
export function readCommandLine(command: Command, argv: readonly string[]): ReadLine {
  const without = optionWithoutValue(command, argv);
  if (without !== null) return usage(command, without);
  let written = "";
  const write = (text: string) => {
    written += text;
  };
  try {
    command
      .exitOverride()
      .configureOutput({ writeOut: write, writeErr: write })
      .parse([...argv], { from: "user" });
    return { kind: "read" };
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { kind: "help", text: written };
    const extra = command.args[command.registeredArguments.length];
    if (error.code === "commander.excessArguments" && extra !== undefined) {
      const advice = argv[0] === extra ? "" : "; put a value with spaces into quotes";
      return usage(command, `unexpected text ${showValue(extra)}${advice}`);
    }
    return usage(command, written.trim().replace(/^error: /, ""));
  }
}

function usage(command: Command, problem: string): ReadLine {
  const text = problem.slice(0, MESSAGE_MAX);
  return { kind: "usage", problem: `${text}\n${command.name()} --help lists the options` };
}

/** Commander would take the next option's name for the value. */
function optionWithoutValue(command: Command, argv: readonly string[]): string | null {
  const isOption = (text: string | undefined) =>
    command.options.some(({ long }) => long === text || text?.startsWith(`${long}=`));
  const at = argv.findIndex((text, index) => {
    const option = command.options.find(({ long }) => long === text);
    return option?.required === true && isOption(argv[index + 1]);
  });
  return at === -1 ? null : `${argv[at]} has no value: ${showValue(argv[at + 1])} follows it; write one`;
}
