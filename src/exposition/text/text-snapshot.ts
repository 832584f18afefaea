// A snapshot of the text of a target: its chunks, and views of its families. A view is made when it is first read.
import { Fault } from '../../errors.js';
import type { FamilyMetadata, FamilyText, Encodings, FamilyHeader, Snapshot } from '../../model.js';
import type { DeflateBlock } from '../compress/deflate-stream.js';
import type { ChunkText } from './chunk.js';
import { RenderedFamily } from './family-text.js';

export class TextSnapshot implements Snapshot {
  readonly metadata: readonly FamilyMetadata[];
  readonly bytes: number;
  readonly series: number;
  readonly encodings: Encodings;
  readonly violatesOpenMetrics: boolean | undefined;
  readonly isDeflated: boolean;
  readonly #chunks: readonly ChunkText[];
  #families: readonly FamilyText[] | undefined;
  #page: readonly Uint8Array[] | undefined;
  #holders = 0;

  /** @param chunks in the order of the page */
  constructor(
    chunks: readonly ChunkText[],
    {
      metadata,
      series,
      encodings,
      isDeflated,
      violatesOpenMetrics,
    }: Pick<
      TextSnapshot,
      'metadata' | 'series' | 'encodings' | 'isDeflated' | 'violatesOpenMetrics'
    >,
  ) {
    this.metadata = metadata;
    this.series = series;
    this.encodings = encodings;
    this.isDeflated = isDeflated;
    this.violatesOpenMetrics = violatesOpenMetrics;
    this.#chunks = chunks;
    let bytes = 0;
    for (const chunk of chunks) bytes += chunk.bytes;
    this.bytes = bytes;
  }

  get families(): readonly FamilyText[] {
    return (this.#families ??= this.#asFamilies());
  }

  get page(): readonly Uint8Array[] | undefined {
    return this.encodings.text ? (this.#page ??= this.#asPage()) : undefined;
  }

  /**
   * All holders of the snapshot share one hold of its buffers.
   * @throws Fault NATIVE_FAILED if a later render, or the end of the hosting, has freed the text already
   */
  hold(): () => void {
    if (this.#holders === 0) this.#holdBuffers();
    this.#holders++;
    return releaseOnce(() => {
      if (--this.#holders === 0) this.#releaseBuffers();
    });
  }

  #asFamilies(): readonly FamilyText[] {
    const families: FamilyText[] = [];
    const memory = this.#memory;
    let family: FamilyRanges | undefined;
    const end = (): void => {
      if (family !== undefined) families.push(viewOf(family, this.isDeflated));
    };
    for (const { blocks, text, offsets, deflateBlocks } of this.#chunks)
      blocks.forEach(({ metadata, header }, index) => {
        if (header !== undefined) {
          end();
          family = { metadata, header, memory, ranges: [], deflateBlocks: [] };
        }
        if (family === undefined) return;
        const deflateBlock = deflateBlocks?.[index];
        if (deflateBlock !== undefined) family.deflateBlocks.push(deflateBlock);
        if (text === undefined) return;
        const start = text.address + (offsets[index] ?? 0);
        const stop = text.address + (offsets[index + 1] ?? 0);
        const { ranges } = family;
        if (ranges.at(-1) === start) ranges[ranges.length - 1] = stop;
        else ranges.push(start, stop);
      });
    end();
    return families;
  }

  /**
   * The memory that holds all texts. Views that were made before the memory grew refer to a shorter buffer, so the
   * longest buffer is the current one.
   */
  get #memory(): ArrayBufferLike | undefined {
    let memory: ArrayBufferLike | undefined;
    for (const { text } of this.#chunks)
      if (text !== undefined && text.view.buffer.byteLength > (memory?.byteLength ?? 0))
        memory = text.view.buffer;
    return memory;
  }

  #asPage(): readonly Uint8Array[] {
    const page: Uint8Array[] = [];
    for (const { text } of this.#chunks) if (text !== undefined) page.push(text.view);
    return page;
  }

  #holdBuffers(): void {
    for (const { buffers } of this.#chunks)
      for (const { isFreed } of buffers)
        if (isFreed)
          throw new Fault(
            'NATIVE_FAILED',
            'The text was freed: hold a snapshot before the next render',
          );
    for (const { buffers } of this.#chunks) for (const buffer of buffers) buffer.hold();
  }

  #releaseBuffers(): void {
    for (const { buffers } of this.#chunks) for (const buffer of buffers) buffer.release();
  }
}

/** Makes a function that calls `release` at its first call, and does nothing at later calls. */
export function releaseOnce(release: () => void): () => void {
  let isHeld = true;
  return () => {
    if (isHeld) release();
    isHeld = false;
  };
}

interface FamilyRanges {
  readonly metadata: FamilyMetadata;
  readonly header: FamilyHeader;
  readonly memory: ArrayBufferLike | undefined;
  readonly ranges: number[];
  readonly deflateBlocks: DeflateBlock[];
}

function viewOf(
  { metadata, header, memory, ranges, deflateBlocks }: FamilyRanges,
  isDeflated: boolean,
): FamilyText {
  const textRanges = memory && { header, memory, ranges };
  return new RenderedFamily(metadata, textRanges, isDeflated ? deflateBlocks : undefined);
}
