import { createHash } from "node:crypto";
import canonicalize from "canonicalize";
import { type Entry, type Receipt, responseTo, type Step } from "./envelope.ts";
import type { Signer } from "./signer.ts";

/** Where a chain stands: the hashes of its last entry and its last line, null before the first. */
export type ChainEnd = { entry: string | null; line: string | null };

/** A receipt as it stands in its file, without the line's end, and where the chain then stands. */
export type Sealed = { line: string; end: ChainEnd };

/**
 * A decided step as the next receipt of its chain. `signer` signs request and response, where a key is configured. Each
 * part is brought into its canonical form once: what a hook does for every decision.
 */
export function seal(step: Step, end: ChainEnd, signer: Signer | null): Sealed {
  const { jsonrpc, method, id, params: given } = step.request;
  const { session_id: session } = given.metadata;
  const params = signer === null ? given : { ...given, signature: signer.sign(step.request, session) };
  const paramsText = canonical(params);
  const content = {
    entry_id: given.request_id,
    step_id: given.request_id,
    step_type: method,
    timestamp: given.timestamp,
    request_hash: sha256(paramsText, null),
  };
  const entry: Entry = {
    ...content,
    previous_hash: end.entry,
    entry_hash: sha256(canonical(content), end.entry),
  };
  const unsigned = responseTo(step, entry.entry_hash);
  const response =
    signer === null
      ? unsigned
      : { ...unsigned, result: { ...unsigned.result, signature: signer.sign(unsigned, session) } };
  const parts = {
    entry: canonical(entry),
    request: objectOf({
      jsonrpc: canonical(jsonrpc),
      method: canonical(method),
      id: canonical(id),
      params: paramsText,
    }),
    response: canonical(response),
  };
  const line = sha256(objectOf(parts), end.line);
  return {
    line: objectOf({ ...parts, line_hash: canonical(line) }),
    end: { entry: entry.entry_hash, line },
  };
}

/** The canonical object of members that are in canonical form already; their names are ASCII. */
function objectOf(members: Readonly<Record<string, string>>): string {
  const names = Object.keys(members).sort();
  return `{${names.map((name) => `${JSON.stringify(name)}:${members[name]}`).join(",")}}`;
}

/** The hash of an entry's content after the entry before it (ACS v0.1.0, "Chain"); lower-case hex. */
export function entryHash({ entry_hash: _, previous_hash, ...content }: Entry): string {
  return sha256(canonical(content), previous_hash);
}

export function requestHash({ params }: Receipt["request"]): string {
  return sha256(canonical(params), null);
}

/** The hash of a whole line after the line before it. */
export function lineHash(line: Omit<Receipt, "line_hash">, previous: string | null): string {
  const { request, entry, response } = line;
  return sha256(canonical({ request, entry, response }), previous);
}

/** RFC 8785. Throws for what has no canonical form: NaN, half a surrogate pair. */
export function canonical(value: unknown): string {
  const text = canonicalize(value);
  if (text === undefined) throw new Error("there is nothing to write down");
  return text;
}

function sha256(text: string, previous: string | null): string {
  const hash = createHash("sha256").update(text, "utf8");
  if (previous !== null) hash.update(Buffer.from(previous, "hex"));
  return hash.digest("hex");
}
