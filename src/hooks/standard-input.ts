import { readSync } from "node:fs";
import { codeOf } from "../ledger/files.ts";
import { pause } from "../ledger/pause.ts";

/** All of standard input; none where there is none. Throws what the system says of it otherwise. */
export function readStandardInput(): Buffer {
  const chunks: Buffer[] = [];
  for (;;) {
    const chunk = Buffer.allocUnsafe(65_536);
    let count: number;
    try {
      count = readSync(0, chunk, 0, chunk.length, null);
    } catch (error) {
      // A pipe that is not ready, and Windows' way of saying that a pipe has ended.
      if (codeOf(error) === "EAGAIN") {
        pause(1);
        continue;
      }
      if (codeOf(error) === "EOF") break;
      throw error;
    }
    if (count === 0) break;
    chunks.push(chunk.subarray(0, count));
  }
  return Buffer.concat(chunks);
}
