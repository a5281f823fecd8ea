/** What a role's agent file says, read once and checked. */
export type Role = {
  /** the bare name, as in `subagent_role` */
  name: string;
  /**
   * where it comes from: the plugin's own agents, Claude Code itself, an agent file of the project or user, or
   * from somewhere else, so that often nothing is known but its name
   */
  origin: "plugin" | "builtin" | "project" | "user" | "foreign";
  description: string;
  /** tool names or rules such as `Bash(git log:*)`; null when the file has no list and the host gives everything */
  tools: string[] | null;
  disallowedTools: string[];
  model: string | null;
  maxTurns: number | null;
  /** tokens; our own frontmatter key `max_output_tokens` */
  maxOutputTokens: number | null;
};

/** Something wrong in an agent file, for a person to mend. */
export type AgentFileProblem = {
  file: string;
  /** 1-based */
  line: number;
  severity: "error" | "warning";
  message: string;
};

export type AgentFile = { role: Role | null; problems: AgentFileProblem[] };

export const ROLE_TYPES = ["engineer", "architect", "product", "lead", "judge", "other"] as const;
export type RoleType = (typeof ROLE_TYPES)[number];
