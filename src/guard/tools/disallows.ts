import { DEFAULT_AGENT_TYPE } from "../agent-type.ts";
import { bashBan } from "./bash-pattern.ts";
import { domainBans, hostOf } from "./domain-pattern.ts";
import { handsIn } from "./hand-in-tools.ts";
import { mcpBans } from "./mcp-pattern.ts";
import { sameAgent, skillBans } from "./named-pattern.ts";
import { searchPaths, writtenPath } from "./path-input.ts";
import { folderMayHoldBanned, pathBans } from "./path-pattern.ts";
import type { PathTool, ToolRule } from "./tool-rule.ts";
import { canonicalTool, type ToolUse, textInput } from "./tool-use.ts";
import { wildcardMatches } from "./wildcard.ts";

export type Disallowed = { denied: false } | { denied: true; why: string };

/** Which tools a path rule of one tool takes the paths away from: the host's Read and Edit rules reach so far. */
const READERS: readonly string[] = ["Read", "NotebookRead", "Grep", "Glob", "LS"];
const WRITERS: readonly string[] = ["Edit", "Write", "MultiEdit", "NotebookEdit"];

/**
 * Whether rules that take tools away, of an agent and of everyone above it, take this call away (case 86). Read
 * widely: a rule or call that cannot be judged counts as taken away. A Read or Edit path rule does not reach
 * into Bash commands (`cat src/x`), and a Bash rule does not find what a script or a variable runs.
 */
export function disallows(rules: readonly ToolRule[], call: ToolUse): Disallowed {
  const tool = canonicalTool(call.tool);
  if (handsIn(tool)) return { denied: false };
  for (const rule of rules) {
    const why = ban(rule, tool, call);
    if (why !== null) return { denied: true, why: `disallowedTools has ${rule.text}: ${why}` };
  }
  return { denied: false };
}

function ban(rule: ToolRule, tool: string, call: ToolUse): string | null {
  switch (rule.kind) {
    case "any":
      return "it takes every tool away";
    case "tool":
      return sameTool(rule.tool, tool) ? `it takes ${tool} away` : null;
    case "mcp":
      return mcpBans(rule, tool) ? `it takes ${tool} away` : null;
    case "bash": {
      if (tool !== "Bash") return null;
      const command = textInput(call, "command");
      return command === null ? "this call names no command" : bashBan(rule.banPatterns, command);
    }
    case "path":
      return group(rule.tool).includes(tool) ? pathBan(rule, tool, call) : null;
    case "domain": {
      if (tool !== "WebFetch") return null;
      const host = hostOf(textInput(call, "url") ?? "");
      if (host === null) return "the host of this address cannot be told for certain";
      return rule.domains.some((domain) => domainBans(domain, host)) ? `it takes ${host} away` : null;
    }
    case "agent": {
      if (tool !== "Agent") return null;
      const given: unknown = call.input.subagent_type;
      const type = given === undefined ? DEFAULT_AGENT_TYPE : textInput(call, "subagent_type");
      if (type === null) return "the subagent_type of this call is no text";
      return rule.types.some((listed) => sameAgent(listed, type))
        ? `it takes the agent type ${type} away`
        : null;
    }
    case "skill": {
      if (tool !== "Skill") return null;
      const skill = textInput(call, "skill");
      if (skill === null) return "this call names no skill";
      return rule.skills.some((pattern) => skillBans(pattern, skill))
        ? `it takes the skill ${skill} away`
        : null;
    }
    case "unreadable":
      return unreadableBan(rule.tool, tool)
        ? `${rule.problem}, so the whole tool counts as taken away`
        : null;
  }
}

function pathBan(rule: ToolRule & { kind: "path" }, tool: string, call: ToolUse): string | null {
  const search = searchPaths(tool, call);
  for (const path of search ?? [writtenPath(tool, call)]) {
    if (path === null) return `the path of this ${tool} call cannot be told for certain`;
    const name = `/${path.join("/")}`;
    if (rule.patterns.some((pattern) => pathBans(pattern, path, call))) return `it takes ${name} away`;
    const shows =
      tool === "Grep" && rule.patterns.some((pattern) => folderMayHoldBanned(pattern, path, call));
    if (shows)
      return `a search of ${name} could show what it takes away; search a folder that has none of it`;
  }
  return null;
}

function group(tool: PathTool): readonly string[] {
  return READERS.includes(tool) ? READERS : WRITERS;
}

function sameTool(banned: string, tool: string): boolean {
  return plain(banned) === plain(tool);
}

/** A rule without any name could have meant every tool. */
function unreadableBan(banned: string, tool: string): boolean {
  return plain(banned) === "" || wildcardMatches(plain(banned), plain(tool));
}

function plain(name: string): string {
  const squeezed = name.toLowerCase().replace(/[\s_-]+/g, "");
  return squeezed === "task" ? "agent" : squeezed;
}
