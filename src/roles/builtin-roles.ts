import type { Role } from "./role.ts";

/**
 * The agents that Claude Code brings along and a payload may name; they have no file, so no limits of their own. The
 * host takes the spawn tool from the two that only read (host: read in its sources).
 */
export const BUILTIN_ROLES: readonly Role[] = [
  builtin("Explore", "Searches a codebase, read-only, and reports what it found and where.", ["Agent"]),
  builtin("Plan", "Works out how to implement something, read-only, and returns the plan.", ["Agent"]),
  builtin("general-purpose", "Does any task of several steps that no narrower agent fits."),
];

function builtin(name: string, description: string, disallowedTools: string[] = []): Role {
  return {
    name,
    origin: "builtin",
    description,
    tools: ["*"],
    disallowedTools,
    model: null,
    maxTurns: null,
    maxOutputTokens: null,
  };
}
