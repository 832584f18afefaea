// The header of a segment, of values or of a schema.
import { HEADER } from './segment-index.js';

export interface VarnishSegmentHeader {
  /** One of `READY`, or another number. */
  readonly ready: number;
  /** Where its body begins, from the start of the segment. */
  readonly bodyOffset: number;
  /** Tells which schema it has, or is; meaningful within one start of Varnish. */
  readonly schemaId: bigint;
}

/** @param bytes begin at a multiple of 8 in memory */
export function headerOf(bytes: Uint8Array): VarnishSegmentHeader {
  const { buffer, byteOffset } = bytes;
  const [ready = 0] = new Int32Array(buffer, byteOffset + HEADER.ready, 1);
  const [bodyOffset = 0n, schemaId = 0n] = new BigUint64Array(
    buffer,
    byteOffset + HEADER.bodyOffset,
    2,
  );
  return { ready, bodyOffset: Number(bodyOffset), schemaId };
}
