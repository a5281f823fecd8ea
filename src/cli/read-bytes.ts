import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** Bytes; more than any prompt can hold. */
const MAX_BYTES = 1_000_000;

/** What a shell writes for `<(command)`: a pipe that is open already. */
const OPEN_PIPE = /^\/(?:dev|proc\/self)\/fd\/[0-9]+$/;

/**
 * A file's bytes. Throws for what is no regular file, unless the shell has opened a pipe under this path, and for
 * over a million bytes.
 */
export function readRegularFile(path: string): Uint8Array {
  // Opening a named pipe would wait for a writer.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = fstatSync(file);
    if (!stats.isFile() && !(stats.isFIFO() && OPEN_PIPE.test(path)))
      throw new Error("it is no regular file; name one");
    if (stats.size > MAX_BYTES)
      throw new Error(`it has ${stats.size} bytes; at most ${MAX_BYTES} fit into a prompt`);
    const bytes = readAll(file, MAX_BYTES);
    if (bytes.length > MAX_BYTES)
      throw new Error(`it has more than the ${MAX_BYTES} bytes that fit into a prompt`);
    return bytes;
  } finally {
    closeSync(file);
  }
}

/** All of standard input, however it arrives (case 37). */
export function readStandardInput(): Uint8Array {
  return readAll(0);
}

/** Everything, or a little more than `most` bytes of what has more. */
function readAll(file: number, most = Number.POSITIVE_INFINITY): Uint8Array {
  const chunks: Buffer[] = [];
  for (let total = 0; total <= most; ) {
    const chunk = Buffer.allocUnsafe(65_536);
    const length = readSome(file, chunk);
    if (length === 0) break;
    chunks.push(chunk.subarray(0, length));
    total += length;
  }
  return Buffer.concat(chunks);
}

function readSome(file: number, chunk: Buffer): number {
  for (;;) {
    try {
      return readSync(file, chunk);
    } catch (error) {
      const code = error instanceof Error && "code" in error ? error.code : undefined;
      if (code === "EOF") return 0;
      if (code !== "EAGAIN") throw error;
      // A non-blocking pipe that has nothing yet.
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 10);
    }
  }
}
