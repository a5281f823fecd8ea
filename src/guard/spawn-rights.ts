import { type Refused, reasons } from "./reasons.ts";
import type { Caller, SpawnRequest, Target } from "./spawn-request.ts";
import { sameAgent } from "./tools/named-pattern.ts";
import { coversAll, intersect } from "./tools/shrink.ts";
import { parseToolRule, type ToolRule } from "./tools/tool-rule.ts";

/**
 * The tools of a new spawn: within its role's and within its caller's, except that a role whose agent file lists
 * `Agent(a, b)` may hand those roles their own (DESIGN "Lineage" 6). `asked` are a caller's payload's, null where
 * it gave none; `*` asks for all that the role has. Asking for more by name is refused, not cut, so that nobody
 * plans with tools that they do not get.
 */
export function rightsFor(request: SpawnRequest, asked: readonly string[] | null): string[] | Refused {
  const role = rules(roleTools(request.target));
  const own = callerRules(request);
  if (asked === null || asked.includes("*")) {
    const granted = intersect(own, role);
    return granted.length > 0 ? granted : reasons.nothingToHandOn(request.target.agentType);
  }
  const wanted = rules(asked);
  for (const [outer, whose] of [
    [role, "the role's"],
    [own, "yours"],
  ] as const) {
    const covered = coversAll(outer, wanted);
    if (!covered.ok) return reasons.beyondRights(covered.missing, whose, intersect(outer, wanted));
  }
  return [...asked];
}

/** What a new spawn may not use: what its own agent file bans, and what its ancestors' ban. */
export function bansFor(request: SpawnRequest): string[] {
  return [...new Set([...request.target.role.disallowedTools, ...inheritedBans(request)])];
}

/** Bans add up along the chain (case 86); but a role that hands tools on is bound alone by its own file's. */
export function inheritedBans({ caller, target }: SpawnRequest): string[] {
  if (caller.kind === "main") return [];
  return [...(handsOn(caller, target) ? caller.inheritedBans : caller.disallowed)];
}

/**
 * What a new spawn may do itself or hand on: its tools, and those that its agent file lets it hand to other roles, as
 * far as its caller could do either.
 */
export function intentFor(request: SpawnRequest, tools: readonly string[]): string[] {
  const handed = intersect(rules(request.caller.intent), rules(request.target.handedTools ?? []));
  const banned = request.target.role.disallowedTools;
  return [...new Set([...tools.filter((tool) => !banned.includes(tool)), ...handed])];
}

function callerRules(request: SpawnRequest): ToolRule[] {
  const { caller, target } = request;
  const own = caller.kind === "main" || handsOn(caller, target) ? request.caller.intent : caller.tools;
  return rules(own);
}

/** A repository's agent file of a role's name is not the role that a file from elsewhere trusts. */
function handsOn(caller: Extract<Caller, { kind: "spawn" }>, target: Target): boolean {
  if (target.role.origin === "project" && !caller.isProjectRole) return false;
  return caller.handsOn.some((name) => sameAgent(name, target.agentType));
}

/** A role without a list gets everything from the host, one with an empty list nothing, whatever stands here. */
function roleTools({ role }: Target): readonly string[] {
  return role.tools === null || role.tools.length === 0 ? ["*"] : role.tools;
}

function rules(texts: readonly string[]): ToolRule[] {
  return texts.map(parseToolRule);
}
