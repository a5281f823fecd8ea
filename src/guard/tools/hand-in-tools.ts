/** Tools by which a subagent hands in its result: to deny them loses the work (host-facts, read). */
export const HAND_IN_TOOLS: readonly string[] = ["StructuredOutput", "SubagentHandback"];

export function handsIn(tool: string): boolean {
  return HAND_IN_TOOLS.includes(tool);
}
