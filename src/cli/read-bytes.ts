import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";

/** Bytes; more than any prompt can hold. */
const MAX_BYTES = 1_000_000;

/** A file's bytes. Throws for what is no regular file or has over a million bytes. */
export function readRegularFile(path: string): Uint8Array {
  // Opening a named pipe would wait for a writer.
  const file = openSync(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new Error("it is no regular file; name one");
    if (stats.size > MAX_BYTES)
      throw new Error(`it has ${stats.size} bytes; at most ${MAX_BYTES} fit into a prompt`);
    return readAll(file);
  } finally {
    closeSync(file);
  }
}

/** All of standard input, however it arrives (case 37). */
export function readStandardInput(): Uint8Array {
  return readAll(0);
}

function readAll(file: number): Uint8Array {
  const chunks: Buffer[] = [];
  for (;;) {
    const chunk = Buffer.allocUnsafe(65_536);
    const length = readSome(file, chunk);
    if (length === 0) return Buffer.concat(chunks);
    chunks.push(chunk.subarray(0, length));
  }
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
