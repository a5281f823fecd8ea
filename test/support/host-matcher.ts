/** The host's two readings of a matcher: a list of exact names, else an unanchored regular expression. */
export function matchesTool(matcher: string | undefined, tool: unknown): boolean {
  if (matcher === undefined || matcher === "" || matcher === "*") return true;
  if (typeof tool !== "string") return false;
  return /^[\w\-, |]+$/.test(matcher) ? matcher.split(/[|,]/).includes(tool) : new RegExp(matcher).test(tool);
}
