/**
 * Short stand-ins for ids in a state that must stay small: 8 characters of 36, about 41 bits, so two of a few
 * hundred ids meet about once in 10^8. A set of them is their concatenation. Free of Node.
 */
export const FINGERPRINT = 8;

const SPACE = 36 ** FINGERPRINT;

export function fingerprint(text: string): string {
  // Two multiplicative 32-bit hashes with different seeds, mixed into 53 bits (cyrb53).
  let a = 0xdeadbeef;
  let b = 0x41c6ce57;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    a = Math.imul(a ^ code, 0x9e3779b1);
    b = Math.imul(b ^ code, 0x5f356495);
  }
  a = Math.imul(a ^ (a >>> 16), 0x85ebca6b) ^ Math.imul(b ^ (b >>> 13), 0xc2b2ae35);
  b = Math.imul(b ^ (b >>> 16), 0x85ebca6b) ^ Math.imul(a ^ (a >>> 13), 0xc2b2ae35);
  const bits = 2 ** 32 * (b & 0x1fffff) + (a >>> 0);
  return (bits % SPACE).toString(36).padStart(FINGERPRINT, "0");
}

export function hasFingerprint(set: string, one: string): boolean {
  for (let at = set.indexOf(one); at >= 0; at = set.indexOf(one, at + 1)) {
    if (at % FINGERPRINT === 0) return true;
  }
  return false;
}

/** Whether a value is a set of at most `most` fingerprints. */
export function isFingerprints(value: unknown, most: number): value is string {
  return (
    typeof value === "string" &&
    value.length % FINGERPRINT === 0 &&
    value.length <= most * FINGERPRINT &&
    /^[0-9a-z]*$/.test(value)
  );
}
