const PRIME = 0x01000193;

/**
 * A 32-bit checksum of a text's UTF-8 bytes, as eight hex digits: FNV-1a's steps over words of four bytes, the
 * length among them.
 *
 * Each step is a bijection of the sum so far, so any change within one word is always found, another one with
 * odds of 2^32 to 1. It finds damage, not malice: whoever can write the ledger can write its checksums too. A hook
 * starts, sums three files and ends; `node:crypto` would cost it more than all of its work.
 */
export function checksum(text: string): string {
  const bytes = Buffer.byteLength(text, "utf8");
  const padded = Buffer.alloc(Math.ceil(bytes / 4) * 4);
  padded.write(text, "utf8");
  // In the machine's own byte order: sums are compared where they were made.
  const words = new Int32Array(padded.buffer, padded.byteOffset, padded.length / 4);
  let sum = Math.imul(0x811c9dc5 ^ bytes, PRIME);
  for (const word of words) {
    sum = Math.imul(sum ^ word, PRIME);
    sum ^= sum >>> 15;
  }
  return (sum >>> 0).toString(16).padStart(8, "0");
}
