// The rendered lines of one family, and the samples that are parsed from them.
import type { FamilyMetadata, FamilyText, TextRanges, Sample } from '../../model.js';
import { inflated } from '../compress/deflate-stream.js';
import type { DeflateBlock } from '../compress/deflate-stream.js';
import { decodeSeries } from './text-syntax.js';

/** A family of a few lines. Each read encodes its text again. */
export class ShortFamily implements FamilyText {
  readonly metadata: FamilyMetadata;
  readonly text: string;
  readonly bytes: number;

  constructor(metadata: FamilyMetadata, text: string) {
    this.metadata = metadata;
    this.text = text;
    this.bytes = Buffer.byteLength(text);
  }

  get buffers(): readonly Uint8Array[] {
    return [Buffer.from(this.text)];
  }

  samples(): Iterable<Sample> {
    return samplesIn(this.buffers);
  }
}

/** A family whose lines the kernel wrote: as text below their header, as deflate blocks, or both. */
export class RenderedFamily implements FamilyText {
  readonly metadata: FamilyMetadata;
  readonly textRanges: TextRanges | undefined;
  readonly deflateBlocks: readonly DeflateBlock[] | undefined;
  readonly bytes: number;
  #buffers: readonly Uint8Array[] | undefined;

  constructor(
    metadata: FamilyMetadata,
    textRanges: TextRanges | undefined,
    deflateBlocks?: readonly DeflateBlock[],
  ) {
    this.metadata = metadata;
    this.textRanges = textRanges;
    this.deflateBlocks = deflateBlocks;
    this.bytes = textRanges === undefined ? inflatedBytes(deflateBlocks) : lineBytes(textRanges);
  }

  /** If the kernel wrote only deflate blocks, the first read decompresses them. */
  get buffers(): readonly Uint8Array[] {
    return (this.#buffers ??= this.#makeBuffers());
  }

  samples(): Iterable<Sample> {
    return samplesIn(this.buffers);
  }

  #makeBuffers(): readonly Uint8Array[] {
    if (this.textRanges !== undefined) return withoutHeader(this.textRanges);
    return this.deflateBlocks === undefined ? [] : [inflated(this.deflateBlocks)];
  }
}

const inflatedBytes = (blocks: readonly DeflateBlock[] = []): number =>
  blocks.reduce((sum, { bytes }) => sum + bytes, 0);

/** Bytes of the lines. */
function lineBytes({ ranges, header }: TextRanges): number {
  let bytes = -header.bytes;
  for (let i = 0; i < ranges.length; i += 2) bytes += (ranges[i + 1] ?? 0) - (ranges[i] ?? 0);
  return bytes;
}

function withoutHeader({ header, memory, ranges }: TextRanges): readonly Uint8Array[] {
  const buffers: Uint8Array[] = [];
  for (let i = 0; i < ranges.length; i += 2) {
    const start = (ranges[i] ?? 0) + (i === 0 ? header.bytes : 0);
    buffers.push(Buffer.from(memory, start, (ranges[i + 1] ?? 0) - start));
  }
  return buffers;
}

/**
 * Parses one buffer after the other as samples are read. Each buffer has whole lines, and may be in shared memory.
 */
export function* samplesIn(buffers: readonly Uint8Array[]): Generator<Sample> {
  for (const { buffer, byteOffset, length } of buffers) {
    const text = Buffer.from(buffer, byteOffset, length).toString();
    for (let start = 0; start < text.length;) {
      const feed = text.indexOf('\n', start);
      const end = feed < 0 ? text.length : feed;
      const blank = text.lastIndexOf(' ', end);
      const series = decodeSeries(text.slice(start, blank));
      yield { ...series, value: text.slice(blank + 1, end) };
      start = end + 1;
    }
  }
}
