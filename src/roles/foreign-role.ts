import type { Role } from "./role.ts";

/** An agent type that no agent file explains, such as another plugin's: everything about it is the default. */
export function foreignRole(name: string): Role {
  return {
    name,
    origin: "foreign",
    description: "",
    tools: null,
    disallowedTools: [],
    model: null,
    maxTurns: null,
    maxOutputTokens: null,
  };
}
