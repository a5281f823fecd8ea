import { v5, validate } from "uuid";

/** Names of sessions that are no UUIDs live here; a random UUID of this project's own. */
const NAMESPACE = "6f6c1f0a-3d0e-4a55-9c62-5a1d0c9b7e21";

/** The ACS session id of a host session: the host's own where it is a UUID, which ACS wants. */
export function rootSession(hostSession: string): string {
  return validate(hostSession) ? hostSession.toLowerCase() : v5(named(hostSession), NAMESPACE);
}

/**
 * The session id of a spawn: made of its root's and the tool_use_id of the call that made it (DESIGN "Audit"); of one
 * that no call explains, of its agent's id.
 */
export function childSession(
  root: string,
  { call, agent }: { call: string | null; agent: string | null },
): string {
  return v5(named(call ?? `agent:${agent ?? ""}`), root);
}

/** The id of one step: the same event gives the same step, so it is recorded once (case 56). */
export function stepId(session: string, method: string, what: string): string {
  return v5(named(`${method}:${what}`), session);
}

/** UUIDv5 is made of UTF-8 bytes, and half a surrogate pair has none; records hold ids as they are named here. */
export function named(id: string): string {
  return id.replace(/\p{Surrogate}/gu, (half) => `%u${half.charCodeAt(0).toString(16)}`);
}
