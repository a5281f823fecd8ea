import { chooseRole } from "../roles/choose-role.ts";

/**
 * What `spawn-guard roles --for` prints: a line a candidate with what speaks for it, or one JSON object
 * {for, role, candidates, hint}, where role is null when several fit.
 */
export function roleChoice(text: string, json: boolean): string {
  const { candidates, hint } = chooseRole(text);
  const [only, ...others] = candidates;
  const role = only === undefined || others.length > 0 ? null : only.role;
  if (json) return `${JSON.stringify({ for: text, role, candidates, hint }, null, 2)}\n`;
  const width = Math.max(...candidates.map((candidate) => candidate.role.length));
  const lines = candidates.map((candidate) => `${candidate.role.padEnd(width)}  ${candidate.why.join(", ")}`);
  if (role === null)
    lines.push(`${candidates.length} roles fit: give each its own part, or name the one you mean`);
  if (hint !== null) lines.push(hint);
  return `${lines.join("\n")}\n`;
}
