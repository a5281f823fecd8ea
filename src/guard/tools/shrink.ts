import { bashCovers, bashRuleText } from "./bash-pattern.ts";
import { domainCovers } from "./domain-pattern.ts";
import { mcpCovers } from "./mcp-pattern.ts";
import { sameAgent, skillCovers } from "./named-pattern.ts";
import { pathCovers } from "./path-pattern.ts";
import { parseToolRule, type ToolRule } from "./tool-rule.ts";

export type Covered = { ok: true } | { ok: false; missing: string[] };

/**
 * Whether each rule of `inner` is within the set `outer` (DESIGN "Lineage" 6). Conservative: what cannot be
 * shown to be within, an unreadable rule included, is missing, by its own text.
 */
export function coversAll(outer: readonly ToolRule[], inner: readonly ToolRule[]): Covered {
  const missing = inner.filter((rule) => !isCovered(outer, rule)).map((rule) => rule.text);
  return missing.length === 0 ? { ok: true } : { ok: false, missing };
}

/**
 * Rules that allow only what both sets allow: the rules of `inner` that `outer` covers, and the rules of `outer`
 * that are narrower than one of `inner`. Two rules that merely overlap give nothing, so it may be empty.
 */
export function intersect(outer: readonly ToolRule[], inner: readonly ToolRule[]): string[] {
  const kept = new Set<string>();
  for (const rule of inner) {
    if (isCovered(outer, rule)) {
      kept.add(rule.text);
      continue;
    }
    for (const part of singles(rule)) {
      if (isCovered(outer, part)) kept.add(part.text);
      else {
        for (const narrower of outer.flatMap(singles)) if (covers(part, narrower)) kept.add(narrower.text);
      }
    }
  }
  return [...kept];
}

/** Each single pattern of `rule` must be within one rule of the set. */
function isCovered(set: readonly ToolRule[], rule: ToolRule): boolean {
  return rule.kind !== "unreadable" && singles(rule).every((part) => set.some((one) => covers(one, part)));
}

/** `outer` may hold several patterns, `inner` holds at most one. */
function covers(outer: ToolRule, inner: ToolRule): boolean {
  if (inner.kind === "unreadable") return false;
  if (outer.kind === "any") return true;
  if (outer.kind === "tool") return outer.tool === toolOf(inner);
  switch (inner.kind) {
    case "any":
    case "tool":
      return false;
    case "mcp":
      return outer.kind === "mcp" && mcpCovers(outer, inner);
    case "bash":
      return outer.kind === "bash" && within(outer.patterns, inner.patterns, bashCovers);
    case "path":
      return (
        outer.kind === "path" &&
        outer.tool === inner.tool &&
        within(outer.patterns, inner.patterns, pathCovers)
      );
    case "domain":
      return outer.kind === "domain" && within(outer.domains, inner.domains, domainCovers);
    case "agent":
      return outer.kind === "agent" && within(outer.types, inner.types, sameAgent);
    case "skill":
      return outer.kind === "skill" && within(outer.skills, inner.skills, skillCovers);
  }
}

function within<Pattern>(
  outer: readonly Pattern[],
  inner: readonly Pattern[],
  covering: (outer: Pattern, inner: Pattern) => boolean,
): boolean {
  return inner.every((pattern) => outer.some((wide) => covering(wide, pattern)));
}

/** The one tool that a rule speaks of, if it is one. */
function toolOf(rule: ToolRule): string | null {
  switch (rule.kind) {
    case "tool":
    case "path":
      return rule.tool;
    case "bash":
      return "Bash";
    case "domain":
      return "WebFetch";
    case "agent":
      return "Agent";
    case "skill":
      return "Skill";
    case "any":
    case "mcp":
    case "unreadable":
      return null;
  }
}

/** A rule with a list as rules of one pattern each; every one reads back as it is. */
function singles(rule: ToolRule): ToolRule[] {
  const texts = singleTexts(rule);
  return texts.length > 1 ? texts.map(parseToolRule) : [rule];
}

function singleTexts(rule: ToolRule): string[] {
  switch (rule.kind) {
    case "bash":
      return rule.patterns.map(bashRuleText);
    case "path":
      return rule.patterns.map((pattern) => `${rule.tool}(${pattern.text})`);
    case "domain":
      return rule.domains.map((domain) => `WebFetch(domain:${domain})`);
    case "agent":
      return rule.types.map((type) => `Agent(${type})`);
    case "skill":
      return rule.skills.map((skill) => `Skill(${skill.name}${skill.within ? ":*" : ""})`);
    case "any":
    case "tool":
    case "mcp":
    case "unreadable":
      return [];
  }
}
