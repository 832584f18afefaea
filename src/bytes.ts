// Lengths and copies of byte arrays.

/** The total length of several byte arrays. */
export function bytesOf(buffers: readonly Uint8Array[]): number {
  let bytes = 0;
  for (const { length } of buffers) bytes += length;
  return bytes;
}

/**
 * Smaller buffers are joined, since a small write costs more than a copy. Copies from shared memory are slow: Node.js 20
 * takes a nanosecond for a byte, unless source and result are equally aligned.
 */
export const SMALL_BYTES = 512;

/** Joins neighbouring small buffers; keeps other buffers without a copy. */
export function joinSmall(buffers: readonly Uint8Array[]): Uint8Array[] {
  const all: Uint8Array[] = [];
  let run: Uint8Array[] = [];
  const endRun = (): void => {
    if (run.length > 0) all.push(run.length === 1 && run[0] ? run[0] : Buffer.concat(run));
    run = [];
  };
  for (const buffer of buffers)
    if (buffer.length < SMALL_BYTES) run.push(buffer);
    else {
      endRun();
      all.push(buffer);
    }
  endRun();
  return all;
}
