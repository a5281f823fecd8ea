import { parseAgentFile } from "../../../src/roles/agent-file.ts";
import type { AgentFile, Role } from "../../../src/roles/role.ts";

/** An agent file with the given frontmatter lines after a good name and description. */
export function agentText(...lines: string[]): string {
  return ["---", "name: probe", "description: Use to probe.", ...lines, "---", "Do the task.", ""].join("\n");
}

export function parse(text: string, origin: Role["origin"] = "project"): AgentFile {
  return parseAgentFile(text, "probe.md", origin);
}

/** The problems as `severity line: message`, for one-line expectations. */
export function said({ problems }: AgentFile): string[] {
  return problems.map(({ severity, line, message }) => `${severity} ${line}: ${message}`);
}

/** Every field of a role, so that a test names only what it is about. */
export function role(fields: Partial<Role> & Pick<Role, "name">): Role {
  return {
    origin: "plugin",
    description: "Use to probe.",
    tools: ["Read"],
    disallowedTools: [],
    model: null,
    maxTurns: null,
    maxOutputTokens: null,
    ...fields,
  };
}
