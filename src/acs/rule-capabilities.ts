import type { BashPattern } from "../guard/tools/bash-pattern.ts";
import type { McpPattern } from "../guard/tools/mcp-pattern.ts";
import type { PathPattern } from "../guard/tools/path-pattern.ts";
import { parseToolRule, type ToolRule } from "../guard/tools/tool-rule.ts";
import type { Capability } from "./capability.ts";
import { fileUri } from "./resource-uri.ts";

/**
 * What tool rules such as `Read`, `Bash(git log:*)` or `WebFetch(domain:example.com)` stand for, each capability
 * once. A capability may say more than its rule (`git log*` begins `git logs` too): what a spawn may really do is
 * held to the rules themselves. An unreadable rule is its text in quotes, which no other capability covers.
 */
export function capabilitiesOf(rules: readonly string[]): Capability[] {
  const found = rules.map(parseToolRule).flatMap(ofRule);
  return [...new Map(found.map((capability) => [JSON.stringify(capability), capability])).values()];
}

function ofRule(rule: ToolRule): Capability[] {
  switch (rule.kind) {
    case "any":
      return [{ tool: "*" }];
    case "tool":
      return [{ tool: rule.tool }];
    case "mcp":
      return [{ tool: mcpTool(rule) }];
    case "bash":
      return rule.patterns.map((pattern) => ({ tool: "Bash", operation: command(pattern) }));
    case "path":
      return rule.patterns.flatMap(places).map((resource) => ({ tool: rule.tool, resource }));
    case "domain":
      return rule.domains.map((domain) => ({ tool: "WebFetch", resource: addresses(domain) }));
    case "agent":
      return rule.types.map((operation) => ({ tool: "Agent", operation }));
    case "skill":
      return rule.skills.map(({ name, within }) => ({
        tool: "Skill",
        operation: within ? `${name}*` : name,
      }));
    case "unreadable":
      return [{ tool: JSON.stringify(rule.text.trim()) }];
  }
}

/** All tools of all servers that begin alike are one prefix. */
function mcpTool({ server, tool }: McpPattern): string {
  return tool === "*" && server.endsWith("*") ? `mcp__${server}` : `mcp__${server}__${tool}`;
}

function command({ kind, text }: BashPattern): string {
  return kind === "prefix" ? `${text}*` : text;
}

/** A path without a star at its end is the file or folder and, the one case of two, what lies below it. */
function places({ base, segments }: PathPattern): string[] {
  if (segments.at(-1) !== "**") return [fileUri(base, segments)];
  const names = segments.slice(0, segments.at(-2) === "*" ? -2 : -1);
  // nothing on the disk is outside of its root, wherever the rule starts
  if (names.length === 0) return [base === "root" ? "file:*" : fileUri(base, ["*"])];
  const below = fileUri(base, [...names, "*"]);
  return segments.at(-2) === "*" ? [below] : [fileUri(base, names), below];
}

function addresses(domain: string): string {
  return domain === "*" ? "https://*" : `https://${domain}/*`;
}
