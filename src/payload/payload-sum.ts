import { createHash } from "node:crypto";
import canonicalize from "canonicalize";

/** The SHA-256 of a payload in its canonical form (RFC 8785), as hex: the same whatever the order of its members. */
export function payloadSum(payload: unknown): string {
  return createHash("sha256")
    .update(canonicalize(payload) ?? "", "utf8")
    .digest("hex");
}
