import { type AgentFolders, resolveTarget } from "./resolve-target.ts";
import type { Role } from "./role.ts";
import { spawnableRoles } from "./tool-list.ts";

/**
 * The tools of the roles that an agent file lets its agent hand their own (`Agent(a, b)`), and of those that these
 * may hand theirs in turn. A role without a list of its own works with every tool.
 */
export async function handedTools(role: Role, folders: AgentFolders): Promise<string[]> {
  const tools = new Set<string>();
  const seen = new Set<string>();
  const waiting = listedBy(role);
  for (let name = waiting.pop(); name !== undefined; name = waiting.pop()) {
    if (seen.has(name)) continue;
    seen.add(name);
    const target = await resolveTarget(name, folders);
    if ("broken" in target) continue;
    for (const tool of target.role.tools ?? ["*"]) tools.add(tool);
    waiting.push(...listedBy(target.role));
  }
  return [...tools];
}

function listedBy({ tools }: Role): string[] {
  const names = spawnableRoles(tools ?? []);
  return Array.isArray(names) ? [...names] : [];
}
