import { wildcardCovers, wildcardMatches } from "./wildcard.ts";

/** `mcp__server__tool`; either part may hold stars, which do not reach into the other part (case 84). */
export type McpPattern = { server: string; tool: string };

/** `mcp__s` alone means every tool of the server, as `mcp__s__*` does. */
export function mcpPattern(name: string): McpPattern | null {
  const parts = mcpParts(name);
  if (parts === null || parts.server === "" || parts.tool === "") return null;
  return { server: parts.server, tool: parts.tool ?? "*" };
}

export function mcpAllows(pattern: McpPattern, name: string): boolean {
  const parts = mcpParts(name);
  if (parts === null || parts.tool === null) return false;
  return wildcardMatches(pattern.server, parts.server) && wildcardMatches(pattern.tool, parts.tool);
}

/** For rules that take away: stars reach anywhere, as in the host's own deny rules, and case does not count. */
export function mcpBans(pattern: McpPattern, name: string): boolean {
  const banned = `mcp__${pattern.server}__${pattern.tool}`.toLowerCase();
  return wildcardMatches(banned, name.toLowerCase());
}

export function mcpCovers(outer: McpPattern, inner: McpPattern): boolean {
  return wildcardCovers(outer.server, inner.server) && wildcardCovers(outer.tool, inner.tool);
}

/** The host ends the server's name at the first `__`. */
function mcpParts(name: string): { server: string; tool: string | null } | null {
  if (!name.startsWith("mcp__")) return null;
  const rest = name.slice("mcp__".length);
  const end = rest.indexOf("__");
  if (end === -1) return { server: rest, tool: null };
  return { server: rest.slice(0, end), tool: rest.slice(end + 2) };
}
