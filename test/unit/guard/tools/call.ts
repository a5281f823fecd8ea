import type { ToolUse } from "../../../../src/guard/tools/tool-use.ts";

/** A call from the project's folder. */
export function call(
  tool: string,
  input: Record<string, unknown> = {},
  where: Partial<ToolUse> = {},
): ToolUse {
  return { tool, input, cwd: "/home/dev/shop", projectDir: "/home/dev/shop", home: "/home/dev", ...where };
}

export function bash(command: string): ToolUse {
  return call("Bash", { command });
}
