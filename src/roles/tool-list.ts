export type ToolListResult =
  | { kind: "tools"; tools: string[]; splitAtSpaces: string[] }
  | { kind: "malformed"; problem: string };

/** A tool name, an MCP name with stars, or `*`; then perhaps a rule in brackets. */
const TOOL_ENTRY = /^(?:\*|[A-Za-z_][\w.:*-]*)(?:\([\s\S]*\))?$/;

/**
 * Splits a tool list such as `Read, Bash(git diff:*, git log:*)` at commas that stand outside brackets and
 * quotes (case 82). Entries are trimmed, empties and repeats dropped, order kept. Entries with only spaces
 * between them (`Read Grep`) are split too and named in `splitAtSpaces`, for a warning (case 79).
 */
export function splitToolList(text: string): ToolListResult {
  const atCommas = splitOutsideBrackets(text, /,/);
  if (atCommas.kind === "malformed") return atCommas;
  const tools = new Set<string>();
  const splitAtSpaces: string[] = [];
  for (const part of atCommas.parts) {
    const entries = splitOutsideBrackets(part, /\s/);
    if (entries.kind === "malformed") return entries;
    if (entries.parts.length > 1) splitAtSpaces.push(part);
    for (const written of entries.parts) {
      const entry = /^(["'])(.*)\1$/s.exec(written)?.[2]?.trim() ?? written;
      if (entry === "") continue;
      if (!TOOL_ENTRY.test(entry)) {
        return {
          kind: "malformed",
          problem: `${JSON.stringify(entry)} is no tool name; write names such as Read or Bash(git log:*), with commas between them`,
        };
      }
      tools.add(entry);
    }
  }
  return { kind: "tools", tools: [...tools], splitAtSpaces };
}

/**
 * Which roles an agent with these tools may spawn. `Agent` (or `Task`, its old name) bare, `Agent(*)` and `*`
 * mean any; several `Agent(a)` entries add up (case 83); `Agent()` names none. Names with a plugin in front,
 * `plugin:agent`, are kept whole.
 */
export function spawnableRoles(tools: readonly string[]): "any" | "none" | string[] {
  const names = new Set<string>();
  for (const tool of tools) {
    if (tool === "*" || tool === "Agent" || tool === "Task") return "any";
    const inside = /^(?:Agent|Task)\(([\s\S]*)\)$/.exec(tool)?.[1];
    if (inside === undefined) continue;
    for (const part of inside.split(",")) {
      const name = part.trim().replace(/^(["'])(.*)\1$/, "$2");
      if (name === "*") return "any";
      if (name !== "") names.add(name);
    }
  }
  return names.size === 0 ? "none" : [...names];
}

type Split = { kind: "parts"; parts: string[] } | { kind: "malformed"; problem: string };

/** Cuts where `separator` matches one character outside round brackets and quotes; a backslash hides the next. */
function splitOutsideBrackets(text: string, separator: RegExp): Split {
  const parts: string[] = [];
  let current = "";
  let depth = 0;
  let quote: string | null = null;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    if (char === "\\") {
      current += text.slice(at, at + 2);
      at += 1;
      continue;
    }
    if (quote !== null) {
      if (char === quote) quote = null;
    } else if (opensQuote(char, text.charAt(at - 1))) quote = char;
    else if (char === "(") depth += 1;
    else if (char === ")") depth -= 1;
    else if (depth === 0 && separator.test(char)) {
      parts.push(current);
      current = "";
      continue;
    }
    if (depth < 0) return unbalanced(text, "a `)` without its `(`");
    current += char;
  }
  if (quote !== null) return unbalanced(text, `a quote ${quote} that is never closed`);
  if (depth > 0) return unbalanced(text, "a `(` that is never closed");
  parts.push(current);
  return { kind: "parts", parts: parts.map((part) => part.trim()).filter((part) => part !== "") };
}

/** The apostrophe of `Bash(echo don't)` opens nothing. */
function opensQuote(char: string, before: string): boolean {
  return char === '"' || (char === "'" && !/\w/.test(before));
}

function unbalanced(text: string, what: string): Split {
  const shown = text.length > 60 ? `${text.slice(0, 60)}…` : text;
  return { kind: "malformed", problem: `${JSON.stringify(shown)} has ${what}; mend it` };
}
