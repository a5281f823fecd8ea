import { plainType } from "../guard/agent-type.ts";
import { canonicalTool } from "../guard/tools/tool-use.ts";
import { PLUGIN_SCOPE } from "../roles/plugin-scope.ts";
import { resolveResource } from "./resource-uri.ts";

/**
 * What may be done, as one entry of an ACS Intent's `parsed`. A member that is absent stands for anything; one
 * that ends with `*` for whatever begins so; a `*` elsewhere is known to mean more than it says, but not what.
 */
export type Capability = { tool?: string; operation?: string; resource?: string };

/**
 * Whether whatever `inner` stands for is certainly within `outer`: each member of `outer` is absent, equal, or a
 * `*`-suffix prefix of the other's after normalising. ACS gives no rule for this; unknown is not covered.
 */
export function covers(outer: Capability, inner: Capability): boolean {
  return readingCovers(readingOf(outer), readingOf(inner));
}

/** The capabilities of `inner` that none of `outer` covers. */
export function missingFrom(outer: readonly Capability[], inner: readonly Capability[]): Capability[] {
  const given = outer.map(readingOf);
  return inner.filter((capability) => {
    const asked = readingOf(capability);
    return !given.some((one) => readingCovers(one, asked));
  });
}

export function isSubset(outer: readonly Capability[], inner: readonly Capability[]): boolean {
  return missingFrom(outer, inner).length === 0;
}

/** Whether each set is within the other, however they are written. */
export function sameSet(one: readonly Capability[], other: readonly Capability[]): boolean {
  return isSubset(one, other) && isSubset(other, one);
}

/** A member as it is compared; `head` is what all that it stands for begins with, null when that is unknown. */
type Member = { text: string; head: string | null; isPrefix: boolean };

type Reading = { tool: Member | null; operation: Member | null; resource: Member | null };

function readingCovers(outer: Reading, inner: Reading): boolean {
  return (
    memberCovers(outer.tool, inner.tool) &&
    memberCovers(outer.operation, inner.operation) &&
    memberCovers(outer.resource, inner.resource)
  );
}

function memberCovers(outer: Member | null, inner: Member | null): boolean {
  if (outer !== null && inner !== null && outer.text === inner.text) return true;
  if (inner !== null && inner.head === null) return false;
  if (outer === null) return true;
  return outer.isPrefix && outer.head !== null && (inner?.head ?? "").startsWith(outer.head);
}

function readingOf({ tool, operation, resource }: Capability): Reading {
  const canonical = tool === undefined ? undefined : canonicalTool(tool);
  return {
    tool: canonical === undefined ? null : toolMember(canonical),
    operation:
      operation === undefined ? null : member(canonical === "Agent" ? agentKey(operation) : operation),
    resource: resource === undefined ? null : resourceMember(resource),
  };
}

/** What is no tool's name or pattern, such as the text of an unreadable rule, is not even within `*`. */
function toolMember(tool: string): Member {
  return /^[A-Za-z_*][\w.:*-]*$/.test(tool) ? member(tool) : { text: tool, head: null, isPrefix: false };
}

/** A place that cannot be told is within anything, and within nothing else. */
function resourceMember(resource: string): Member {
  const resolved = resolveResource(resource);
  return resolved === null ? { text: resource, head: "", isPrefix: false } : member(resolved);
}

function member(written: string): Member {
  const body = withoutFinalStars(written);
  const endsInStar = body.length < written.length;
  const star = body.indexOf("*");
  return {
    text: endsInStar ? `${body}*` : body,
    head: star === -1 ? body : body.slice(0, star),
    isPrefix: endsInStar && star === -1,
  };
}

function withoutFinalStars(text: string): string {
  let end = text.length;
  while (text.charAt(end - 1) === "*") end -= 1;
  return text.slice(0, end);
}

/** Agent types are compared as the host does, and this plugin's with its scope or without. */
function agentKey(type: string): string {
  const plain = plainType(type);
  const scope = plainType(PLUGIN_SCOPE);
  // `spawn-guard:*` without its scope would stand for every plugin's agents
  return plain.startsWith(scope) && !plain.includes("*") ? plain.slice(scope.length) : plain;
}
