import { type Command, CommanderError } from "commander";

export type ReadLine =
  | { kind: "read" }
  | { kind: "help"; text: string }
  /** what is wrong, and how to find out what is right */
  | { kind: "usage"; problem: string };

/** Characters of commander's own messages, which quote what was given. */
const MESSAGE_MAX = 300;

/** Lets a command read its arguments, with help and errors as values: nothing is written, nothing exits. */
export function readCommandLine(command: Command, argv: readonly string[]): ReadLine {
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
    const message = written
      .trim()
      .replace(/^error: /, "")
      .slice(0, MESSAGE_MAX);
    return { kind: "usage", problem: `${message}\n${command.name()} --help lists the options` };
  }
}
