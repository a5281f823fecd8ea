import { showValue } from "../payload/show-value.ts";
import { chooseRole, type RoleCandidate, worksOnAnyStack } from "../roles/choose-role.ts";

export type PickedRole =
  /** `warning` says how the role came about, or what speaks against it */
  { ok: true; name: string; warning: string | null } | { ok: false; problem: string };

/** The role of a build: the one that was named, held against the stack, or else the stack's own. */
export function pickRole(role: string | undefined, stack: string | undefined): PickedRole {
  if (role !== undefined) return { ok: true, name: role, warning: contradiction(role, stack) };
  if (stack === undefined || stack.trim() === "")
    return { ok: false, problem: "role is missing and stack is blank; name one of the two" };
  const { candidates, matched, hint } = chooseRole(stack);
  const [only, ...others] = candidates;
  if (only === undefined || others.length > 0)
    return {
      ok: false,
      problem: `stack ${showValue(stack)} fits ${candidates.length} roles; name one of them as role:\n${candidates.map(listed).join("\n")}`,
    };
  const found = matched
    ? reasons(only)
    : `nothing in the table matches, and ${only.role} is for what is unmatched`;
  const more = hint === null ? "" : `; ${hint}`;
  return {
    ok: true,
    name: only.role,
    warning: `role ${only.role} was chosen for stack ${showValue(stack)} by the role-selection table: ${found}${more}`,
  };
}

function contradiction(role: string, stack: string | undefined): string | null {
  if (stack === undefined || worksOnAnyStack(role) !== false) return null;
  const { candidates, matched } = chooseRole(stack);
  if (!matched || candidates.some((candidate) => candidate.role === role)) return null;
  const owners = candidates.map((candidate) => `${candidate.role}'s (${reasons(candidate)})`).join(" or ");
  return `stack ${showValue(stack)} is ${owners} by the role-selection table, and the role is ${role}; build for ${candidates.map((candidate) => candidate.role).join(" or ")} unless ${role} is meant`;
}

function listed(candidate: RoleCandidate): string {
  return `  ${candidate.role}: ${reasons(candidate)}`;
}

function reasons({ why }: RoleCandidate): string {
  return why.join(", ");
}
