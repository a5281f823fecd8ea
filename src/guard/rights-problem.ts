import { allows } from "./tools/allows.ts";
import { disallows } from "./tools/disallows.ts";
import { parseToolRule } from "./tools/tool-rule.ts";
import type { ToolUse } from "./tools/tool-use.ts";

/** Why a spawn may not make a call, by the tools that it has and those that are taken from it; null when it may. */
export function rightsProblem(
  allowed: readonly string[],
  disallowed: readonly string[],
  use: ToolUse,
): string | null {
  const banned = disallows(disallowed.map(parseToolRule), use);
  if (banned.denied) return banned.why;
  const within = allows(allowed.map(parseToolRule), use);
  return within.allowed ? null : within.why;
}
