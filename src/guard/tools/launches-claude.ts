import { commandsRun, programName } from "./wrapped-commands.ts";

const PACKAGE = /^@anthropic-ai\/claude-code(?:@.*)?$/;
const PROGRAM = /^claude(?:\.exe|\.cmd)?$/;
const ENTRY_FILE = /(?:^|\/)claude-code\/[\w./-]+\.[cm]?js$/;
const RUNTIMES = ["node", "bun", "deno"];

/**
 * Whether a Bash command starts Claude Code itself, plainly or through common wrappers (case 21). Text that
 * only mentions the name is no start, and neither is asking for its version or help.
 *
 * Known gaps: names that a variable, alias or function holds (`C=claude; $C -p x`), a script file that calls it,
 * text piped into a shell (`echo claude | sh`), other languages (`python -c …`, `node -e …`), other machines and
 * terminals (`ssh`, `docker exec`, `tmux`, `screen`), `make` targets and package scripts, encoded text, and a copy
 * of the program under another name.
 */
export function launchesClaude(command: string): boolean {
  return commandsRun(command).commands.some(startsClaude);
}

function startsClaude(words: readonly string[]): boolean {
  const [first = "", second = ""] = words;
  if (PROGRAM.test(programName(words))) return !/^(?:-v|--version|-h|--help)$/.test(second);
  if (PACKAGE.test(first)) return true;
  return RUNTIMES.includes(programName(words)) && words.slice(1).some((word) => ENTRY_FILE.test(word));
}
