/** Bytes as UTF-8, a byte-order mark left out; `replaced` when bytes that are no UTF-8 became U+FFFD. */
export function decodeText(bytes: Uint8Array): { text: string; replaced: boolean } {
  try {
    return { text: new TextDecoder("utf-8", { fatal: true }).decode(bytes), replaced: false };
  } catch {
    return { text: new TextDecoder("utf-8").decode(bytes), replaced: true };
  }
}
