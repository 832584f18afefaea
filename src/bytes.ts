// Lengths and copies of byte arrays.

/** The total length of several byte arrays. */
export function bytesOf(buffers: readonly Uint8Array[]): number {
  let bytes = 0;
  for (const { length } of buffers) bytes += length;
  return bytes;
}

/** Joins neighbouring buffers that are shorter than `small` bytes; keeps longer ones without a copy. */
export function joinSmall(buffers: readonly Uint8Array[], small: number): Uint8Array[] {
  const all: Uint8Array[] = [];
  let run: Uint8Array[] = [];
  const endRun = (): void => {
    if (run.length > 0) all.push(Buffer.concat(run));
    run = [];
  };
  for (const buffer of buffers)
    if (buffer.length < small) run.push(buffer);
    else {
      endRun();
      all.push(buffer);
    }
  endRun();
  return all;
}
