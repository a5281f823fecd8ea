/** Blocks for up to `milliseconds`; hooks are synchronous from end to end. */
export function pause(milliseconds: number): void {
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, milliseconds);
}
