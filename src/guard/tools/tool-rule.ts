import { type BashPattern, bashBanPatterns, bashPatterns } from "./bash-pattern.ts";
import { splitAtCommas } from "./comma-list.ts";
import { domainPattern } from "./domain-pattern.ts";
import { type McpPattern, mcpPattern } from "./mcp-pattern.ts";
import { agentTypes, type SkillPattern, skillPattern } from "./named-pattern.ts";
import { type PathPattern, pathPattern } from "./path-pattern.ts";
import { canonicalTool, shown } from "./tool-use.ts";

/** The tools whose rule may name paths. */
export const PATH_TOOLS = [
  "Read",
  "NotebookRead",
  "Edit",
  "Write",
  "MultiEdit",
  "NotebookEdit",
  "Grep",
  "Glob",
  "LS",
] as const;
export type PathTool = (typeof PATH_TOOLS)[number];

/** One entry of allowed_tools, of an agent file's tools or of its disallowedTools; `text` as it was written. */
export type ToolRule = { text: string } & (
  | { kind: "any" }
  | { kind: "tool"; tool: string }
  | ({ kind: "mcp" } & McpPattern)
  | { kind: "bash"; patterns: BashPattern[]; banPatterns: BashPattern[] }
  | { kind: "path"; tool: PathTool; patterns: PathPattern[] }
  | { kind: "domain"; domains: string[] }
  | { kind: "agent"; types: string[] }
  | { kind: "skill"; skills: SkillPattern[] }
  /** cannot be evaluated: never allows anything. `tool` is as far as its name could be read, perhaps "" */
  | { kind: "unreadable"; tool: string; problem: string }
);

/** A tool name; the brackets, if any, are cut off before. */
const NAME = /^[A-Za-z_][\w.:-]*$/;
const MCP_NAME = /^mcp__[\w.*-]+$/;

/** Reads one rule; never throws. Several in one text are for splitToolList. */
export function parseToolRule(text: string): ToolRule {
  const written = text.trim();
  if (written === "*") return { kind: "any", text };
  const bracket = written.indexOf("(");
  if (bracket === -1) return bareRule(text, written);
  const name = written.slice(0, bracket).trim();
  const tool = canonicalTool(name);
  const unreadable = (problem: string): ToolRule => {
    return { kind: "unreadable", text, tool, problem: `${shown(text)} ${problem}` };
  };
  if (!written.endsWith(")") || !isBalanced(written)) return unreadable("has a bracket that is not closed");
  if (!NAME.test(name)) return unreadable("has no plain tool name before its bracket");
  const inside = written.slice(bracket + 1, -1);
  if (inside.trim() === "*" && !tool.startsWith("mcp__")) return { kind: "tool", text, tool };
  return patternRule(text, tool, inside, unreadable);
}

function bareRule(text: string, name: string): ToolRule {
  const tool = canonicalTool(name);
  if (name.startsWith("mcp__")) {
    const pattern = MCP_NAME.test(name) ? mcpPattern(name) : null;
    if (pattern !== null) return { kind: "mcp", text, ...pattern };
  } else if (NAME.test(name)) return { kind: "tool", text, tool };
  const problem = name.includes("*") ? "has a star in a name that is no mcp__ name" : "is no tool name";
  return { kind: "unreadable", text, tool, problem: `${shown(text)} ${problem}` };
}

function patternRule(
  text: string,
  tool: string,
  inside: string,
  unreadable: (problem: string) => ToolRule,
): ToolRule {
  if (tool === "Agent") {
    const types = agentTypes(inside);
    if (types.includes("*")) return { kind: "tool", text, tool };
    if (types.some((type) => type.includes("*"))) return unreadable("has a star inside an agent's name");
    return { kind: "agent", text, types };
  }
  if (inside.trim() === "") return unreadable("has empty brackets; name the tool alone or give a pattern");
  if (tool === "Bash") {
    const read = bashPatterns(inside);
    if ("problem" in read) return unreadable(read.problem);
    return { kind: "bash", text, patterns: read.patterns, banPatterns: bashBanPatterns(inside) };
  }
  const pathTool = PATH_TOOLS.find((known) => known === tool);
  if (pathTool !== undefined) {
    const patterns: PathPattern[] = [];
    for (const part of splitAtCommas(inside)) {
      if (part === "*") return { kind: "tool", text, tool };
      const pattern = pathPattern(part);
      if (typeof pattern === "string") return unreadable(pattern);
      patterns.push(pattern);
    }
    return { kind: "path", text, tool: pathTool, patterns };
  }
  if (tool === "WebFetch") {
    const domains = readAll(inside, domainPattern);
    return domains === null
      ? unreadable("has a pattern that is not domain:example.com or domain:*.example.com")
      : { kind: "domain", text, domains };
  }
  if (tool === "Skill") {
    const skills = readAll(inside, skillPattern);
    return skills === null
      ? unreadable("has a star where only Skill(name) and Skill(name:*) are evaluated")
      : { kind: "skill", text, skills };
  }
  return unreadable(`has a pattern, and no patterns are evaluated for ${tool}; name the tool alone`);
}

function readAll<Pattern>(inside: string, read: (part: string) => Pattern | null): Pattern[] | null {
  const patterns: Pattern[] = [];
  for (const part of splitAtCommas(inside)) {
    const pattern = read(part);
    if (pattern === null) return null;
    patterns.push(pattern);
  }
  return patterns;
}

function isBalanced(text: string): boolean {
  let depth = 0;
  for (const [bracket] of text.matchAll(/\\.|[()]/gs)) {
    if (bracket === "(") depth += 1;
    if (bracket === ")") depth -= 1;
    if (depth < 0) return false;
  }
  return depth === 0;
}
