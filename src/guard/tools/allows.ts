import { DEFAULT_AGENT_TYPE } from "../agent-type.ts";
import { bashRefusal } from "./bash-pattern.ts";
import { domainAllows, hostOf } from "./domain-pattern.ts";
import { handsIn } from "./hand-in-tools.ts";
import { mcpAllows } from "./mcp-pattern.ts";
import { sameAgent, skillAllows } from "./named-pattern.ts";
import { searchPaths, writtenPath } from "./path-input.ts";
import { folderAllows, type PathPattern, pathAllows } from "./path-pattern.ts";
import type { ToolRule } from "./tool-rule.ts";
import { canonicalTool, shown, type ToolUse, textInput } from "./tool-use.ts";

export type Allowed = { allowed: true } | { allowed: false; why: string };

/** Tools that the host puts into a request from the start; every other one may need ToolSearch first (seen). */
const NEVER_DEFERRED = new Set(["Agent", "Bash", "Edit", "Glob", "Grep", "LS", "Read", "Skill", "Write"]);

/**
 * Whether a set of rules allows a call. A tool is allowed by its own name or pattern alone: `Edit` does not
 * allow `Write`, nor `Read` `Grep`. Not looser than Claude Code's own permission rules of the same text (measured
 * on 2.1.332), except where those are dead letters: lists with commas, `mcp__*__x`, and path rules of `Write`,
 * `Grep` and the like. Tools that hand in a result are always allowed.
 */
export function allows(rules: readonly ToolRule[], call: ToolUse): Allowed {
  const tool = canonicalTool(call.tool);
  if (handsIn(tool) || rules.some((rule) => rule.kind === "any")) return { allowed: true };
  if (rules.some((rule) => rule.kind === "tool" && rule.tool === tool)) return { allowed: true };
  if (rules.some((rule) => rule.kind === "mcp" && mcpAllows(rule, tool))) return { allowed: true };
  if (tool === "ToolSearch" && rules.some(mayBeDeferred)) return { allowed: true };
  const refusal = patternRefusal(rules, tool, call);
  if (refusal === null) return { allowed: true };
  const unread = rules.find((rule) => rule.kind === "unreadable" && rule.tool === tool);
  const also = unread?.kind === "unreadable" ? `; ${unread.problem}, so it allows nothing` : "";
  return { allowed: false, why: `${refusal}${also}` };
}

/**
 * ToolSearch only loads what other tools are called with, and every call of those is judged on its own. Without
 * it a deferred tool that is allowed could not be reached.
 */
function mayBeDeferred(rule: ToolRule): boolean {
  return (
    rule.kind === "mcp" || rule.kind === "domain" || (rule.kind === "tool" && !NEVER_DEFERRED.has(rule.tool))
  );
}

/** Why no pattern rule allows the call; null when one does. */
function patternRefusal(rules: readonly ToolRule[], tool: string, call: ToolUse): string | null {
  const notListed = `${tool} is not among the allowed tools (${list(rules)})`;
  if (tool === "Bash") {
    const patterns = rules.flatMap((rule) => (rule.kind === "bash" ? rule.patterns : []));
    if (patterns.length === 0) return notListed;
    const command = textInput(call, "command");
    if (command === null) return "this Bash call names no command";
    const refusal = bashRefusal(patterns, command);
    return refusal === null ? null : `this command is not allowed (${list(rules, "bash")}): ${refusal}`;
  }
  if (tool === "WebFetch") {
    const domains = rules.flatMap((rule) => (rule.kind === "domain" ? rule.domains : []));
    if (domains.length === 0) return notListed;
    const host = hostOf(textInput(call, "url") ?? "");
    if (host === null)
      return "the host of this address cannot be told for certain; use a plain http(s) address";
    const allowed = domains.some((domain) => domainAllows(domain, host));
    return allowed ? null : `the host ${shown(host)} is not allowed (${list(rules, "domain")})`;
  }
  if (tool === "Agent") {
    const types = rules.flatMap((rule) => (rule.kind === "agent" ? rule.types : []));
    if (!rules.some((rule) => rule.kind === "agent")) return notListed;
    const type = agentType(call);
    if (type === null) return "the subagent_type of this call is no text";
    return types.some((listed) => sameAgent(listed, type))
      ? null
      : `the agent type ${shown(type)} is not allowed (${list(rules, "agent")})`;
  }
  if (tool === "Skill") {
    const skills = rules.flatMap((rule) => (rule.kind === "skill" ? rule.skills : []));
    if (skills.length === 0) return notListed;
    const skill = textInput(call, "skill");
    if (skill !== null && skills.some((pattern) => skillAllows(pattern, skill))) return null;
    return `the skill ${shown(skill ?? "")} is not allowed (${list(rules, "skill")})`;
  }
  const patterns = rules.flatMap((rule) => (rule.kind === "path" && rule.tool === tool ? rule.patterns : []));
  if (patterns.length === 0) return notListed;
  return pathRefusal(patterns, tool, call);
}

function pathRefusal(patterns: readonly PathPattern[], tool: string, call: ToolUse): string | null {
  const texts = patterns.map((pattern) => pattern.text).join(", ");
  const search = searchPaths(tool, call);
  const paths = search ?? [writtenPath(tool, call)];
  const matches = search === null ? pathAllows : folderAllows;
  for (const path of paths) {
    if (path === null) return `the path of this ${tool} call cannot be told for certain`;
    if (!patterns.some((pattern) => matches(pattern, path, call))) {
      return `${tool} is allowed only for ${texts}, and /${path.join("/")} is not ${search === null ? "among it" : "wholly within it"}`;
    }
  }
  return null;
}

function agentType(call: ToolUse): string | null {
  const given: unknown = call.input.subagent_type;
  return given === undefined ? DEFAULT_AGENT_TYPE : textInput(call, "subagent_type");
}

function list(rules: readonly ToolRule[], kind?: ToolRule["kind"]): string {
  const texts = rules.filter((rule) => kind === undefined || rule.kind === kind).map((rule) => rule.text);
  const text = texts.join(", ");
  if (text === "") return "none";
  return text.length > 200 ? `${text.slice(0, 200)}…` : text;
}
