import { splitAtCommas } from "./comma-list.ts";
import type { ShellCommand } from "./shell-reading.ts";
import { readShell } from "./shell-reading.ts";
import { literalHead, wildcardCovers, wildcardMatches } from "./wildcard.ts";
import { commandsRun, programName } from "./wrapped-commands.ts";

/**
 * What stands in `Bash(…)`, read as Claude Code 2.1.332 does: `git log:*` and `git log *` are the command
 * `git log` with or without more words, other stars stand for any text, and the rest is the exact command.
 */
export type BashPattern = { kind: "prefix" | "wildcard" | "exact"; text: string };

export type BashPatterns = { patterns: BashPattern[] } | { problem: string };

/**
 * `Bash(git diff:*, git log:*)` is a list (case 82). The host itself takes a comma for a part of the command;
 * such a text is read as a list only where a part ends with a star, since the host's reading is then of no use.
 */
export function bashPatterns(inside: string): BashPatterns {
  const parts = splitAtCommas(inside);
  const texts = parts.length > 1 && parts.some((part) => part.endsWith("*")) ? parts : [inside];
  const patterns: BashPattern[] = [];
  for (const text of texts) {
    const pattern = bashPattern(text);
    if (typeof pattern === "string") return { problem: pattern };
    patterns.push(pattern);
  }
  return { patterns };
}

/** Each comma's part as a pattern of its own too: for rules that take away, where both readings count. */
export function bashBanPatterns(inside: string): BashPattern[] {
  return [inside, ...splitAtCommas(inside)].map(bashPattern).filter((pattern) => typeof pattern !== "string");
}

function bashPattern(text: string): BashPattern | string {
  if (text.includes("\\*")) return "has an escaped star, which is not evaluated";
  const prefix = /^(.*?)(?::\*| \*)$/s.exec(text)?.[1];
  if (prefix !== undefined && !prefix.includes("*")) {
    return prefix.trim() === "" ? "has a `*` without a command before it" : { kind: "prefix", text: prefix };
  }
  if (text.endsWith(":*")) return "has a `*` before the `:*`; write one of the two";
  if (/^[*\s]*$/.test(text)) return "has a `*` without a command";
  return { kind: text.includes("*") ? "wildcard" : "exact", text };
}

function patternMatches(pattern: BashPattern, command: string): boolean {
  switch (pattern.kind) {
    case "prefix":
      return command === pattern.text || command.startsWith(`${pattern.text} `);
    case "wildcard":
      return wildcardMatches(pattern.text, command);
    case "exact":
      return command === pattern.text;
  }
}

/** Why a command line is not within the patterns; null when every part of it is within one of them. */
export function bashRefusal(patterns: readonly BashPattern[], line: string): string | null {
  const { commands, problem } = readShell(line);
  if (problem !== null) return `${problem}, and only plain commands can be held to a Bash rule`;
  if (commands.length === 0) return "it holds no command";
  const odd = commands.find((command) => !within(patterns, command));
  if (odd === undefined) return null;
  if (odd.assigns)
    return "it sets a variable for a command, and only plain commands can be held to a Bash rule";
  return `no rule allows its part ${JSON.stringify(odd.text.slice(0, 80))}`;
}

function within(patterns: readonly BashPattern[], command: ShellCommand): boolean {
  if (command.assigns || !command.named) return false;
  return patterns.some((pattern) => patternMatches(pattern, command.text));
}

/** Why a command line falls under a pattern that takes away, wrapped and nested commands included; null if not. */
export function bashBan(patterns: readonly BashPattern[], line: string): string | null {
  const texts = readShell(line).commands.map((command) => command.text);
  const { commands, hidden } = commandsRun(line);
  for (const words of commands) {
    texts.push(words.join(" "), [programName(words), ...words.slice(1)].join(" "));
  }
  const banned = [line.trim(), ...texts].find((text) =>
    patterns.some((pattern) => patternMatches(pattern, text)),
  );
  if (banned !== undefined) return `it runs ${JSON.stringify(banned.slice(0, 80))}`;
  return hidden === null ? null : `${hidden}, so what it runs cannot be judged`;
}

/** Whether whatever `inner` allows is certainly allowed by `outer`. */
export function bashCovers(outer: BashPattern, inner: BashPattern): boolean {
  if (outer.kind === inner.kind && outer.text === inner.text) return true;
  if (inner.kind === "exact") return patternMatches(outer, inner.text);
  if (outer.kind === "exact") return false;
  if (outer.kind === "prefix") {
    return patternMatches(outer, inner.kind === "prefix" ? inner.text : headWords(inner.text));
  }
  return wildcardCovers(outer.text, inner.kind === "prefix" ? `${inner.text}*` : inner.text);
}

/** The whole words before a pattern's first star. */
function headWords(pattern: string): string {
  return literalHead(pattern).replace(/\s*\S*$/, "");
}

export function bashRuleText(pattern: BashPattern): string {
  return pattern.kind === "prefix" ? `Bash(${pattern.text}:*)` : `Bash(${pattern.text})`;
}
