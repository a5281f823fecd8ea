import { Command } from "commander";
import { contextSlice, renderContext } from "../context/context-slice.ts";
import { memoryOwner, projectFolder } from "../context/project-folder.ts";
import {
  ARCHITECTURE_FILES,
  PROJECT_FILES,
  type ReadText,
  readMemory,
  readProject,
} from "../context/sources.ts";
import { showValue } from "../payload/show-value.ts";
import type { AgentPlace } from "../roles/agent-places.ts";
import { readCommandLine } from "./command-line.ts";
import type { CommandResult } from "./command-result.ts";
import { loadRole } from "./load-role.ts";

export type ContextIo = {
  cwd: string;
  home: string;
  /** the user's folder of Claude Code */
  configFolder: string;
  /** the folder of the plugin's agent files */
  agentsDir: string;
  /** the project's and the user's folders of agent files */
  places: readonly AgentPlace[];
  now: () => Date;
  read: ReadText;
};

type Options = { for?: string; maxTokens?: string; includeMemory?: true; architecture: boolean; json?: true };

/** Tokens. */
const MAX_TOKENS = { min: 100, max: 50_000, default: 4000 };

/**
 * `spawn-guard context`: the sections of a project's texts that matter to a role, as Markdown, or as the JSON object
 * that `build --state -` takes. Writes nothing. Exit codes: 0 done, also where there is no source; 1 unknown role; 2
 * wrong usage. What was there and not read goes to stderr, and into the JSON's notes.
 *
 * @param argv what follows `context`
 */
export function runContext(argv: readonly string[], io: ContextIo): CommandResult {
  const command = new Command("spawn-guard context")
    .description(
      "Prints what CLAUDE.md, AGENTS.md and ARCHITECTURE.md say that matters to a role, as marked data.",
    )
    .option("--for <role>", "the role: a role that `spawn-guard roles` lists")
    .option(
      "--max-tokens <n>",
      `tokens of the whole (bytes / 4, an estimate), ${MAX_TOKENS.min} to ${MAX_TOKENS.max}; ${MAX_TOKENS.default} if left out`,
    )
    .option("--include-memory", "also what Claude Code has kept in the project's memory")
    .option("--no-architecture", "leave ARCHITECTURE.md and docs/ARCHITECTURE.md out")
    .option("--json", "print {state_slice, untrusted_inputs, sources, …} for build --state -");
  const line = readCommandLine(command, argv);
  if (line.kind === "help") return { exitCode: 0, stdout: line.text, stderr: "" };
  if (line.kind === "usage") return failure(2, line.problem);
  const options = command.opts<Options>();
  if (options.for === undefined) return failure(2, "--for is missing; `spawn-guard roles` lists the roles");
  const maxTokens = options.maxTokens === undefined ? MAX_TOKENS.default : Number(options.maxTokens);
  if (!/^\d+$/.test(options.maxTokens ?? "0") || maxTokens < MAX_TOKENS.min || maxTokens > MAX_TOKENS.max)
    return failure(
      2,
      `--max-tokens is ${showValue(options.maxTokens)}; write a whole number from ${MAX_TOKENS.min} to ${MAX_TOKENS.max}`,
    );
  const loaded = loadRole(options.for, io.agentsDir, io.places);
  if (!loaded.ok) return failure(1, loaded.problem);

  const files = [...PROJECT_FILES, ...(options.architecture ? ARCHITECTURE_FILES : [])];
  const folder = projectFolder(io.cwd, io.home, [...PROJECT_FILES, ...ARCHITECTURE_FILES]);
  const project = readProject(folder, files, io.read);
  const memory =
    options.includeMemory === true
      ? readMemory(io.configFolder, memoryOwner(io.cwd, io.home), io.read)
      : { sources: [], notes: [] };
  const sources = [...project.sources, ...memory.sources];
  const notes = [...project.notes, ...memory.notes];
  const slice = contextSlice(loaded.role, sources, maxTokens, io.now().toISOString(), notes);
  const stderr = slice.notes.map((note) => `spawn-guard context: ${note}\n`).join("");
  const none = `there is no context for ${slice.role} in ${folder}: of ${files.join(", ")} none has text`;
  const hasNone = slice.sources.length === 0;
  if (options.json === true) {
    const whole = hasNone ? { ...slice, notes: [...slice.notes, none] } : slice;
    return { exitCode: 0, stdout: `${JSON.stringify(whole, null, 2)}\n`, stderr };
  }
  return { exitCode: 0, stdout: hasNone ? `${none}\n` : renderContext(slice), stderr };
}

function failure(exitCode: 1 | 2, problem: string): CommandResult {
  return { exitCode, stdout: "", stderr: `spawn-guard context: ${problem}\n` };
}
