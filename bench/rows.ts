/** One line of the table: what is measured, against what, and the ratio that DESIGN allows. */
export type Row = { id: string; what: string; against: string; bound: number | null };

const NODE = "`node -e 0`";

/**
 * Every row of docs/performance.md. Hooks are started as the host does, in an environment that has nothing but PATH
 * and HOME: what slows Node's own start, such as NODE_EXTRA_CA_CERTS, would make them look better than they are.
 */
export const ROWS = [
  { id: "spawn", what: "spawn decision", against: NODE, bound: 1.2 },
  { id: "metered", what: "metered tool call of a subagent", against: NODE, bound: 1.15 },
  { id: "batch", what: "end of a response that called tools", against: NODE, bound: null },
  { id: "main", what: "main-thread tool call", against: NODE, bound: 0.15 },
  { id: "many", what: "spawn decision with 10,000 earlier spawns", against: "with none", bound: 1.1 },
  { id: "agents", what: "spawn decision beside 3,000 agent files", against: "with none", bound: null },
  { id: "large", what: "metered call with 100 MB read", against: "with an empty one", bound: 1.1 },
  { id: "build", what: "`spawn-guard build`", against: NODE, bound: 2 },
  { id: "spawn-here", what: "spawn decision, environment as it was", against: NODE, bound: null },
  { id: "metered-here", what: "metered call, environment as it was", against: NODE, bound: null },
] as const satisfies readonly Row[];

export type RowId = (typeof ROWS)[number]["id"];

/** Spawn decisions of sessions that go on at the same time. */
export const STORM = { decisions: 200, sessions: 16 };
