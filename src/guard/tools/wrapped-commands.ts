import { readShell, type ShellReading } from "./shell-reading.ts";

/** What a command line runs, as far as it can be made out: each command's words, and why that may not be all. */
export type CommandsRun = { commands: string[][]; hidden: string | null };

type Wrapper = {
  /** options whose value is a word of its own */
  valued: readonly string[];
  /** plain words before the wrapped command */
  operands: number;
};

function wrapper(valued = "", operands = 0): Wrapper {
  return { valued: valued.split(" "), operands };
}

const RUNNER = wrapper("-p --package -c --call -w --workspace");

const WRAPPERS = new Map<string, Wrapper>([
  ["builtin", wrapper()],
  ["caffeinate", wrapper("-t -w")],
  ["chronic", wrapper()],
  ["command", wrapper()],
  ["doas", wrapper("-u -C")],
  ["env", wrapper("-u --unset -C --chdir")],
  ["exec", wrapper("-a")],
  ["flock", wrapper("-w --timeout -E", 1)],
  ["ionice", wrapper("-c --class -n --classdata")],
  ["nice", wrapper("-n --adjustment")],
  ["nohup", wrapper()],
  ["parallel", wrapper("-j --jobs -a --arg-file --delay")],
  ["setsid", wrapper()],
  ["stdbuf", wrapper("-i -o -e")],
  ["strace", wrapper("-o -e -s")],
  ["sudo", wrapper("-u --user -g --group -h --host -p --prompt -C -D -R -T")],
  ["taskset", wrapper("", 1)],
  ["time", wrapper("-f --format -o --output")],
  ["timeout", wrapper("-k --kill-after -s --signal", 1)],
  ["unbuffer", wrapper()],
  ["watch", wrapper("-n --interval")],
  ["xargs", wrapper("-I -n -P -L -d -E -s -a --max-args --max-procs --delimiter --replace --arg-file")],
  ["bunx", RUNNER],
  ["npx", RUNNER],
  ["pnpx", RUNNER],
]);

/** Package managers whose subcommand runs a package's program. */
const RUNNERS = new Map([
  ["bun", ["x"]],
  ["npm", ["exec", "x"]],
  ["pnpm", ["dlx", "exec"]],
  ["yarn", ["dlx", "exec"]],
]);

const SHELLS = new Set(["sh", "bash", "zsh", "dash", "ksh", "ash", "fish"]);
const DEEPEST = 8;

/**
 * The commands of a line and those inside wrappers such as `env X=1 …`, `timeout 5 …` or `bash -c "…"`.
 * An over-estimate where in doubt; what no reading of the text alone can find is named in `hidden` at best.
 */
export function commandsRun(line: string, depth = 0): CommandsRun {
  const reading: ShellReading = readShell(line);
  const run: CommandsRun = { commands: [], hidden: reading.hidden };
  for (const command of reading.commands) {
    let words = command.words;
    for (let layer = 0; words.length > 0; layer += 1) {
      run.commands.push(words);
      if (depth > DEEPEST || layer > DEEPEST) {
        run.hidden ??= "it is wrapped too deeply";
        break;
      }
      for (const script of scripts(words, layer === 0 ? command.stdin : null)) {
        const inner = commandsRun(script, depth + 1);
        run.commands.push(...inner.commands);
        run.hidden ??= inner.hidden;
      }
      words = wrapped(words);
    }
  }
  return run;
}

/** The program's name without its folder. */
export function programName(words: readonly string[]): string {
  return (words[0] ?? "").replace(/^.*\//s, "");
}

/** Texts among a command's words that a shell will read as commands. */
function scripts(words: readonly string[], stdin: string | null): string[] {
  const name = programName(words);
  const rest = words.slice(1);
  if (name === "eval") return [rest.join(" ")];
  if (name === "find") {
    return rest.flatMap((word, at) =>
      /^-(?:exec|ok)(?:dir)?$/.test(word) ? [quoted(rest.slice(at + 1))] : [],
    );
  }
  if (name === "env") return afterOption(rest, /^(?:-S|--split-string)$/);
  if (name === "npx" || name === "npm") return afterOption(rest, /^(?:-c|--call)$/);
  if (!SHELLS.has(name) && name !== "su" && name !== "script") return [];
  const found = afterOption(rest, /^-[a-z]*c[a-z]*$/);
  if (found.length > 0) return found;
  return stdin === null ? [] : [stdin];
}

function afterOption(words: readonly string[], option: RegExp): string[] {
  const at = words.findIndex((word) => option.test(word));
  if (at === -1) return [];
  const value = words.slice(at + 1).find((word) => !/^[-+]/.test(word));
  return value === undefined ? [] : [value];
}

function quoted(words: readonly string[]): string {
  return words.map((word) => `'${word.replaceAll("'", "'\\''")}'`).join(" ");
}

/** The words of the command that these words only wrap; empty when they wrap none. */
function wrapped(words: readonly string[]): string[] {
  const name = programName(words);
  let rest = words.slice(1);
  let how = WRAPPERS.get(name);
  if (how === undefined && RUNNERS.get(name)?.includes(rest[0] ?? "")) {
    how = RUNNER;
    rest = rest.slice(1);
  }
  if (how === undefined) return [];
  if (name === "command" && /^-[a-zA-Z]*[vV]/.test(rest[0] ?? "")) return [];
  let operands = how.operands;
  let at = 0;
  for (; at < rest.length; at += 1) {
    const word = rest[at] ?? "";
    if (word.startsWith("-") && word !== "-") {
      if (how.valued.includes(word)) at += 1;
    } else if (word === "-" || (name !== "xargs" && /^[A-Za-z_]\w*=/.test(word))) continue;
    else if (operands > 0) operands -= 1;
    else break;
  }
  return rest.slice(at);
}
