const TABLE = new Uint32Array(256).map((_, index) => {
  let value = index;
  for (let bit = 0; bit < 8; bit++) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
  return value >>> 0;
});

/**
 * CRC-32 (IEEE 802.3) of a text's UTF-8 bytes, as eight hex digits.
 *
 * It finds damage, not malice: whoever can write the ledger can write its checksums too. `node:crypto` would
 * add a tenth to a hook's start.
 */
export function checksum(text: string): string {
  let crc = 0xffffffff;
  for (const byte of Buffer.from(text, "utf8")) crc = (crc >>> 8) ^ (TABLE[(crc ^ byte) & 0xff] ?? 0);
  return ((crc ^ 0xffffffff) >>> 0).toString(16).padStart(8, "0");
}
