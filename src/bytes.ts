// Bytes that lie in pieces: how many there are, and copies of them.

export function bytesOf(pieces: readonly Uint8Array[]): number {
  let bytes = 0;
  for (const { length } of pieces) bytes += length;
  return bytes;
}

/**
 * Copies all of `from` to `to`, from a place on. `set` of typed arrays takes seven times as long where memory is
 * shared and both are not aligned alike: V8 copies byte by byte then.
 */
export function copyBytes(from: Uint8Array, to: Buffer, at: number): void {
  if (from.length > 0) to.fill(from, at, at + from.length);
}
