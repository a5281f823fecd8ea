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
  const words = new DataView(padded.buffer, padded.byteOffset, padded.length);
  let sum = Math.imul(0x811c9dc5 ^ bytes, PRIME);
  for (let at = 0; at < padded.length; at += 4) {
    sum = Math.imul(sum ^ words.getUint32(at, true), PRIME);
    sum ^= sum >>> 15;
  }
  return (sum >>> 0).toString(16).padStart(8, "0");
}
