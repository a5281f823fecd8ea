/**
 * Whether two agent types are the same to the host, which ignores case, spaces, `-` and `_` when it resolves
 * `subagent_type` (host: read in its sources). Hooks see what the model wrote.
 */
export function sameAgentType(one: string, other: string): boolean {
  return plainType(one) === plainType(other);
}

/** The spelling under which the host compares agent types. */
export function plainType(type: string): string {
  return type.toLowerCase().replace(/[\s_-]+/g, "");
}

/** What the host runs when a call names no type. */
export const DEFAULT_AGENT_TYPE = "general-purpose";
