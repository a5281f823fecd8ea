import type { CommandResult } from "./command-result.ts";
import { type CliPlace, COMMANDS } from "./commands.ts";

/**
 * The whole CLI without its process: picks the command by its first argument and says what to write.
 * Never throws; what a command throws is exit code 1 with its message.
 */
export async function runCli(
  argv: readonly string[],
  place: CliPlace,
  version: string,
): Promise<CommandResult> {
  const [name, ...rest] = argv[0] === "help" ? [...argv.slice(1, 2), "--help"] : argv;
  const command = COMMANDS.find((known) => known.name === name);
  if (command === undefined) return await programUsage(name === undefined ? [] : [name], version);
  try {
    return await command.run(rest, place);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    return { exitCode: 1, stdout: "", stderr: `spawn-guard ${command.name}: ${why}\n` };
  }
}

/** Help, version and wrong commands; commander is loaded only for these and by commands that need it. */
async function programUsage(argv: readonly string[], version: string): Promise<CommandResult> {
  const { Command, CommanderError } = await import("commander");
  let stdout = "";
  let stderr = "";
  const program = new Command("spawn-guard")
    .description("Typed, bounded and accountable subagent spawns for Claude Code.")
    .version(version)
    .helpCommand(false)
    .exitOverride()
    .configureOutput({
      writeOut: (text) => {
        stdout += text;
      },
      writeErr: (text) => {
        stderr += text;
      },
    });
  for (const { name, summary } of COMMANDS) program.command(name).description(summary);
  try {
    program.parse([...argv], { from: "user" });
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return { exitCode: 0, stdout, stderr };
  }
  return { exitCode: 2, stdout: "", stderr: stderr === "" ? program.helpInformation() : usage(stderr) };
}

function usage(problem: string): string {
  return `${problem.trim().replace(/^error: /, "spawn-guard: ")}\nspawn-guard --help lists the commands\n`;
}
