import { createHash, createHmac, hkdfSync } from "node:crypto";
import canonicalize from "canonicalize";
import type { Request, Response, Signature } from "./envelope.ts";

/** A shorter key is refused (ACS facts: 32 bytes or more). */
export const MIN_KEY_BYTES = 32;

/**
 * Signs with a deployment key: HMAC-SHA256 over RFC 8785 of the envelope without its signature, under a key that
 * HKDF-SHA256 makes for each session (empty salt, the session id as info, 32 bytes).
 */
export class Signer {
  /** the first 16 hex digits of the key's SHA-256: tells keys apart, gives none away */
  readonly keyId: string;

  /** Throws RangeError for a key of less than 32 bytes. */
  constructor(private readonly key: Uint8Array) {
    if (key.length < MIN_KEY_BYTES) {
      throw new RangeError(`the audit key has ${key.length} bytes; at least ${MIN_KEY_BYTES} are needed`);
    }
    this.keyId = createHash("sha256").update(key).digest("hex").slice(0, 16);
  }

  sign(envelope: Request | Response, session: string): Signature {
    return { algorithm: "HMAC-SHA256", value: this.hmac(envelope, session), key_id: this.keyId };
  }

  /** Whether an envelope's own signature is what this key gives. */
  verifies(envelope: Request | Response, session: string): boolean {
    const given = signatureOf(envelope);
    return given !== undefined && given.key_id === this.keyId && given.value === this.hmac(envelope, session);
  }

  private hmac(envelope: Request | Response, session: string): string {
    const key = Buffer.from(hkdfSync("sha256", this.key, new Uint8Array(0), session, 32));
    return createHmac("sha256", key)
      .update(canonicalize(unsigned(envelope)) ?? "", "utf8")
      .digest("base64");
  }
}

/** What tells whether an envelope is signed with a known key. */
export type Verifier = Pick<Signer, "verifies">;

/** Any of several keys: one that was changed for another leaves chains that begin with the old one. */
export function anyOf(signers: readonly Signer[]): Verifier {
  return { verifies: (envelope, session) => signers.some((signer) => signer.verifies(envelope, session)) };
}

export function signatureOf(envelope: Request | Response): Signature | undefined {
  return "params" in envelope ? envelope.params.signature : envelope.result.signature;
}

function unsigned(envelope: Request | Response): object {
  if ("params" in envelope) {
    const { signature: _, ...params } = envelope.params;
    return { ...envelope, params };
  }
  const { signature: _, ...result } = envelope.result;
  return { ...envelope, result };
}

/**
 * A key as it stands in a file or a variable: 64 or more hex digits, or base64 (with or without padding, URL letters
 * too), white space around them left out; anything else is the key itself, byte for byte.
 */
export function keyFrom(bytes: Buffer): Buffer {
  const text = bytes.toString("latin1").trim();
  if (/^(?:[0-9a-fA-F]{2}){32,}$/.test(text)) return Buffer.from(text, "hex");
  if (/^[A-Za-z0-9+/_-]{43,}={0,2}$/.test(text)) return Buffer.from(text, "base64");
  return bytes;
}
