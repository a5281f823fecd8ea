/** One simple command of a command line, nested ones included. */
export type ShellCommand = {
  /** its words as written, one space between them, without redirections */
  text: string;
  /** its words without their quotes; what only a run can tell, such as `$HOME`, stays as written */
  words: string[];
  /** whether it sets a variable for itself, as in `X=1 make` */
  assigns: boolean;
  /** whether its first word is plain text, free of variables and file globs */
  named: boolean;
  /** what a here-document or here-string feeds it */
  stdin: string | null;
};

export type ShellReading = {
  commands: ShellCommand[];
  /** why a rule about single commands cannot judge this line; null when it is a plain sequence of commands */
  problem: string | null;
  /** why `commands` may miss something that would run; null when it does not */
  hidden: string | null;
};

type Word = { raw: string; value: string; literal: boolean };
type HereDocument = { delimiter: string; quoted: boolean; stripTabs: boolean; command: ShellCommand };

const DEEPEST = 20;
const BLANK = " \t";
const ENDS_WORD = " \t\n;&|<>()";
/** After these a command follows, or nothing. */
const KEYWORDS = new Set([
  "if",
  "then",
  "else",
  "elif",
  "fi",
  "while",
  "until",
  "do",
  "done",
  "esac",
  "!",
  "}",
  "time",
  "coproc",
]);
/** After these words follow that are no command. */
const HEADERS = new Set(["for", "case", "select", "function", "[["]);
const STRANGE = /(?![ \t\n])[\p{Cc}\p{Cf}\p{Z}]/u;

/**
 * Reads a command line for Bash or a shell like it. Never throws. What it does not follow for certain
 * (subshells, substitutions, here-documents, control structures, redirections to files, …) is a `problem`,
 * and its commands are listed as well as they can be made out.
 */
export function readShell(source: string): ShellReading {
  const reading: ShellReading = { commands: [], problem: null, hidden: null };
  if (STRANGE.test(source)) reading.problem = "it has control characters or odd white space";
  new Scanner(source, reading, 0).list(null);
  return reading;
}

class Scanner {
  readonly #source: string;
  readonly #reading: ShellReading;
  readonly #depth: number;
  #at = 0;
  #nesting = 0;
  #documents: HereDocument[] = [];

  constructor(source: string, reading: ShellReading, depth: number) {
    this.#source = source;
    this.#reading = reading;
    this.#depth = depth;
    if (depth > DEEPEST) this.#giveUp("it is nested too deeply");
  }

  /** Reads commands up to the end, or past the bracket that closes this list. */
  list(closer: ")" | null): void {
    let command = emptyCommand();
    let awaited = false;
    const finish = () => {
      if (command.words.length > 0 || command.assigns) this.#reading.commands.push(command);
      command = emptyCommand();
    };
    while (this.#at < this.#source.length) {
      const char = this.#char();
      if (BLANK.includes(char)) this.#at += 1;
      else if (char === "\\" && this.#char(1) === "\n") this.#continuation();
      else if (char === "#") this.#comment();
      else if (char === "\n") {
        this.#at += 1;
        finish();
        this.#readDocuments();
      } else if (char === "&" && this.#char(1) === ">") {
        this.#at += 1;
        this.#redirection(command);
      } else if (";&|".includes(char)) {
        if (command.words.length === 0 && !command.assigns)
          this.#flag("a command is missing before an operator");
        awaited = this.#operator(char);
        finish();
      } else if (char === "(") {
        this.#flag("it has a subshell, a function or another use of round brackets");
        finish();
        this.#at += 1;
        this.#nested();
      } else if (char === ")") {
        this.#at += 1;
        if (closer === ")") {
          finish();
          return;
        }
        this.#flag("it has a `)` without its `(`");
        finish();
      } else if (char === "<" || char === ">") this.#redirection(command);
      else {
        this.#takeWord(command, finish);
        awaited = false;
      }
    }
    if (closer !== null) this.#giveUp("it has a `(` that is never closed");
    if (awaited && command.words.length === 0) this.#flag("a command is missing after an operator");
    if (this.#documents.length > 0) this.#readDocuments();
    finish();
  }

  /** Reads text as inside double quotes, up to `closer`, or to the end for a here-document's body. */
  quotedText(closer: '"' | null): string {
    let value = "";
    while (this.#at < this.#source.length) {
      const char = this.#char();
      if (char === closer) {
        this.#at += 1;
        return value;
      }
      if (char === "\\") {
        if (this.#char(1) === "\n") this.#flag("it continues a line inside quotes");
        else if (!'"\\$`'.includes(this.#char(1))) value += "\\";
        if (this.#char(1) !== "\n") value += this.#char(1);
        this.#at += 2;
      } else if (char === "`") value += this.#backticks();
      else if (char === "$") value += this.#dollar(true);
      else {
        value += char;
        this.#at += 1;
      }
    }
    if (closer !== null) this.#giveUp("it has a quote that is never closed");
    return value;
  }

  #takeWord(command: ShellCommand, finish: () => void): void {
    const word = this.#word();
    if (/^\d+$/.test(word.raw) && "<>".includes(this.#char()) && this.#char() !== "") return;
    if (word.raw === "{") {
      this.#flag("it has a group in braces");
      finish();
      return;
    }
    if (command.words.length === 0) {
      if (KEYWORDS.has(word.raw)) {
        this.#flag(`it has the shell keyword ${word.raw}`);
        return;
      }
      if (HEADERS.has(word.raw)) this.#flag(`it has the shell keyword ${word.raw}`);
      if (/^[A-Za-z_]\w*(?:\[[^\]]*\])?\+?=/.test(word.raw)) {
        command.assigns = true;
        return;
      }
      command.named = word.literal;
      if (!word.literal) this.#hide("the name of a command is not plain text");
    }
    command.text += command.text === "" ? word.raw : ` ${word.raw}`;
    command.words.push(word.value);
  }

  #word(): Word {
    const start = this.#at;
    let value = "";
    let literal = true;
    let brace = -1;
    while (this.#at < this.#source.length && !ENDS_WORD.includes(this.#char())) {
      const char = this.#char();
      if (char === "'") value += this.#singleQuotes();
      else if (char === '"') {
        const from = this.#at;
        this.#at += 1;
        value += this.quotedText('"');
        if (/[$`]/.test(this.#source.slice(from, this.#at))) literal = false;
      } else if (char === "\\") {
        const next = this.#char(1);
        if (next === "\n" || BLANK.includes(next)) this.#flag("it has a backslash before white space");
        if (next !== "\n") value += next;
        this.#at += 2;
      } else if (char === "`" || char === "$") {
        literal = false;
        value += char === "`" ? this.#backticks() : this.#dollar(false);
      } else {
        if (char === "{" && brace === -1) brace = this.#at;
        if ("*?[".includes(char) && value + char !== "[" && value + char !== "[[") literal = false;
        value += char;
        this.#at += 1;
      }
    }
    const raw = this.#source.slice(start, this.#at);
    if (brace !== -1 && /,|\.\./.test(this.#source.slice(brace, this.#at))) {
      this.#flag("it has a brace expansion");
      literal = false;
    }
    return { raw, value, literal };
  }

  #singleQuotes(): string {
    const end = this.#source.indexOf("'", this.#at + 1);
    if (end === -1) {
      const rest = this.#source.slice(this.#at + 1);
      this.#giveUp("it has a quote that is never closed");
      return rest;
    }
    const inside = this.#source.slice(this.#at + 1, end);
    this.#at = end + 1;
    return inside;
  }

  /** Reads what begins with `$` and gives it back as written. */
  #dollar(inQuotes: boolean): string {
    const start = this.#at;
    const next = this.#char(1);
    this.#at += 1;
    if (next === "(") {
      this.#flag("it has a command substitution $(…)");
      this.#at += 1;
      this.#nested();
    } else if (next === "{") {
      this.#flag("it has a variable in braces");
      this.#bracedVariable();
    } else if (next === "[" || (!inQuotes && (next === "'" || next === '"'))) {
      this.#flag(`it has $${next}, which is not evaluated`);
      if (next === "'") this.#hide("it has text with escape codes");
    }
    return this.#source.slice(start, this.#at);
  }

  /** Only looks for the commands inside; the closing brace may stand where it does not expect it. */
  #bracedVariable(): void {
    const start = this.#at;
    const end = this.#source.indexOf("}", start);
    const inside = this.#source.slice(start + 1, end === -1 ? undefined : end);
    if (/\$\(|`/.test(inside)) this.#hide("it has a command inside a variable's braces");
    this.#at = end === -1 ? this.#source.length : end + 1;
  }

  #backticks(): string {
    this.#flag("it has a command substitution in backticks");
    const start = this.#at;
    let end = start + 1;
    while (end < this.#source.length && this.#source.charAt(end) !== "`") {
      end += this.#source.charAt(end) === "\\" ? 2 : 1;
    }
    if (end >= this.#source.length) this.#hide("it has a backtick that is never closed");
    const inside = this.#source.slice(start + 1, end).replace(/\\([`\\$])/g, "$1");
    this.#at = Math.min(end + 1, this.#source.length);
    new Scanner(inside, this.#reading, this.#depth + 1).list(null);
    return this.#source.slice(start, this.#at);
  }

  #redirection(command: ShellCommand): void {
    if (this.#char(1) === "(") {
      this.#flag("it has a process substitution");
      this.#at += 2;
      this.#nested();
      return;
    }
    const operator = /^(?:<<<|<<-|<<|<>|<&|<|>>|>\||>&|>)/.exec(
      this.#source.slice(this.#at, this.#at + 3),
    )?.[0];
    this.#at += operator?.length ?? 1;
    while (this.#char() !== "" && BLANK.includes(this.#char())) this.#at += 1;
    const target = this.#word();
    if (operator === "<<" || operator === "<<-") {
      this.#flag("it has a here-document");
      const quoted = target.raw !== target.value;
      this.#documents.push({ delimiter: target.value, quoted, stripTabs: operator === "<<-", command });
    } else if (operator === "<<<") {
      this.#flag("it has a here-string");
      command.stdin = target.value;
    } else if (operator === ">&" && /^(?:\d+|-)$/.test(target.raw)) return;
    else if (target.raw !== "/dev/null" || operator === "<&" || operator === "<>") {
      this.#flag(`it ${operator === "<" ? "reads" : "writes"} a file by redirection`);
    }
  }

  #readDocuments(): void {
    const documents = this.#documents;
    this.#documents = [];
    for (const { delimiter, quoted, stripTabs, command } of documents) {
      const lines: string[] = [];
      while (this.#at < this.#source.length) {
        const end = this.#source.indexOf("\n", this.#at);
        const line = this.#source.slice(this.#at, end === -1 ? undefined : end);
        this.#at = end === -1 ? this.#source.length : end + 1;
        if ((stripTabs ? line.replace(/^\t+/, "") : line) === delimiter) break;
        lines.push(line);
      }
      command.stdin = lines.join("\n");
      if (!quoted) new Scanner(command.stdin, this.#reading, this.#depth + 1).quotedText(null);
    }
  }

  /** A shell may be set to take no comments, so one that could hold a command is a problem. */
  #comment(): void {
    const end = this.#source.indexOf("\n", this.#at);
    const comment = this.#source.slice(this.#at, end === -1 ? undefined : end);
    if (/[;&|<>$`(){}"\\]/.test(comment)) this.#flag("it has a comment with shell characters");
    this.#at += comment.length;
  }

  #continuation(): void {
    if (this.#at > 0 && !BLANK.includes(this.#source.charAt(this.#at - 1))) {
      this.#flag("it continues a line in the middle of a word");
    }
    this.#at += 2;
  }

  /** Steps over an operator and says whether a command must follow. */
  #operator(char: string): boolean {
    const double = char !== ";" && this.#char(1) === char;
    this.#at += double ? 2 : 1;
    if (char === "&" && !double) this.#flag("it runs a command in the background");
    return char !== ";" && (double || char === "|");
  }

  #nested(): void {
    this.#nesting += 1;
    if (this.#nesting + this.#depth > DEEPEST) this.#giveUp("it is nested too deeply");
    else this.list(")");
    this.#nesting -= 1;
  }

  #char(ahead = 0): string {
    return this.#source.charAt(this.#at + ahead);
  }

  #flag(problem: string): void {
    this.#reading.problem ??= problem;
  }

  #hide(why: string): void {
    this.#reading.hidden ??= why;
    this.#flag(why);
  }

  #giveUp(why: string): void {
    this.#hide(why);
    this.#at = this.#source.length;
  }
}

function emptyCommand(): ShellCommand {
  return { text: "", words: [], assigns: false, named: true, stdin: null };
}
