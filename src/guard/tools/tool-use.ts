/** One tool call as a PreToolUse hook sees it. The three folders are absolute paths. */
export type ToolUse = {
  tool: string;
  input: Record<string, unknown>;
  /** where relative paths of the input start */
  cwd: string;
  /** where relative patterns of a rule start: rights do not move when an agent changes its folder */
  projectDir: string;
  home: string;
};

/** The input's text under a name; null when there is none. */
export function textInput(call: ToolUse, name: string): string | null {
  const value: unknown = Object.hasOwn(call.input, name) ? call.input[name] : null;
  return typeof value === "string" ? value : null;
}

/** The name under which rules and calls are compared: `Task` is what `Agent` was called before (case 54). */
export function canonicalTool(tool: string): string {
  return tool === "Task" ? "Agent" : tool;
}

/** A text short enough for a reason, in quotes. */
export function shown(text: string): string {
  const short = text.length > 80 ? `${text.slice(0, 80)}…` : text;
  return JSON.stringify(short);
}
