// A chunk of a page: consecutive blocks whose text is in one buffer, which pages send without a copy. The header of a
// family comes before its first block.
import type { FamilyMetadata, FamilyHeader } from '../../model.js';
import type { DeflateBlock } from '../compress/deflate-stream.js';
import { PADDING_BYTES } from '../wasm/kernel.js';
import type { Kernel } from '../wasm/kernel.js';
import {
  CHUNK_BLOCKS,
  CHUNK_BLOCK_BYTES,
  CHUNK_BLOCK_HEADER,
  CHUNK_BLOCK_HEADER_LENGTH,
  CHUNK_BLOCK_START,
  LINES_CHANGED,
  REWRITE_VALUE_BYTES,
} from '../wasm/layout.js';
import type { Scratch } from '../wasm/memory.js';
import { MAX_VALUE_BYTES } from './block.js';
import type { Block, RenderOptions, RenderTask } from './block.js';
import { RenderBuffer } from './render-buffer.js';

/**
 * If more than this share of the lines changed, writing all lines is faster than moving the text between changed
 * values.
 */
const REWRITE_ALL_SHARE = 0.25;

/** Starting a block takes as long as writing this many bytes of text. */
const BYTES_A_BLOCK = 128;

/** A block, and the header before it if it is the first block of its family. */
export interface ChunkBlock {
  readonly block: Block;
  readonly metadata: FamilyMetadata;
  readonly header: FamilyHeader | undefined;
}

/** The output of a chunk in one render. */
export interface ChunkText {
  readonly blocks: readonly ChunkBlock[];
  /** Bytes of the lines. */
  readonly bytes: number;
  /** The lines with the headers. */
  readonly text: RenderBuffer | undefined;
  /** For each block, the offset of its header or first line in the text; at the end, the length of the text. */
  readonly offsets: readonly number[];
  /** The deflate block of each block, if the render produced them. */
  readonly deflateBlocks: readonly DeflateBlock[] | undefined;
  /** The buffers of its text and deflate blocks. */
  readonly buffers: readonly RenderBuffer[];
}

export class Chunk implements RenderTask {
  readonly blocks: readonly ChunkBlock[];
  readonly #kernel: Kernel;
  /** Bytes of the headers. */
  readonly #headerBytes: number;
  /** The address of the table of blocks and headers. The first write allocates the table. */
  #table = 0;
  #text: RenderBuffer | undefined;
  /** Whether the last write failed. */
  #hasFailed = false;
  /** The number and the approximate size of the lines at the last write of all lines. */
  #lines = 0;
  #lineBytes = 0;
  /** The result of the last call of `textFor`. */
  #last:
    { readonly hasText: boolean; readonly code: unknown; readonly text: ChunkText } | undefined;

  constructor(kernel: Kernel, blocks: readonly ChunkBlock[]) {
    this.#kernel = kernel;
    this.blocks = blocks;
    let headerBytes = 0;
    for (const { header } of blocks) headerBytes += header?.bytes ?? 0;
    this.#headerBytes = headerBytes;
    this.#measure();
  }

  get bytes(): number {
    return this.#lineBytes + this.#headerBytes + this.blocks.length * BYTES_A_BLOCK;
  }

  /** Adds to `dirty` the tasks that the render must run. Frees the text if the render needs no text. */
  collectDirty(options: RenderOptions, dirty: RenderTask[]): void {
    const { hasText, context } = options;
    const { length } = dirty;
    if (!hasText) this.#releaseText();
    else if (!this.#isCurrent) dirty.push(this);
    if (context !== undefined)
      for (const { block } of this.blocks) if (!block.isCurrent(context)) dirty.push(block);
    const last = this.#last;
    const isSame = last?.hasText === hasText && last.code === context?.code;
    if (!isSame || dirty.length > length) this.#last = undefined;
  }

  textFor(options: RenderOptions): ChunkText {
    const { hasText, context } = options;
    this.#last ??= { hasText, code: context?.code, text: this.#makeText(options) };
    return this.#last.text;
  }

  /**
   * Writes the text into the last buffer, or into a new one if a snapshot holds the last one. If few values changed,
   * writes only the changed values.
   */
  write(_: RenderOptions, scratch: Scratch): void {
    const { run } = this.#kernel;
    const last = this.#hasCurrentLines ? this.#text : undefined;
    if (this.#table === 0) this.#makeTable();
    if (last === undefined) {
      for (const { block } of this.blocks) block.sort();
      this.#measure();
    }
    const changes = last === undefined ? 0 : run.chunkChanges(this.#table);
    const writesAll = last === undefined || changes > this.#lines * REWRITE_ALL_SHARE;
    const isInPlace = last?.isHeld === false;
    // Allocate first. Allocation can fail, and no state may change before it succeeds.
    const values =
      isInPlace && !writesAll ? scratch.reserve((changes + 1) * REWRITE_VALUE_BYTES) : 0;
    const next = isInPlace ? last.reuse() : RenderBuffer.of(this.#kernel, this.#maxBytes);
    const previous = this.#text;
    this.#text = next;
    this.#hasFailed = true;
    try {
      if (writesAll) next.length = run.renderAll(this.#table, next.address);
      else if (isInPlace) next.length = run.rewrite(this.#table, next.address, last.length, values);
      else next.length = run.renderChanged(this.#table, last.address, last.length, next.address);
      this.#hasFailed = false;
    } finally {
      if (!isInPlace) previous?.release();
    }
  }

  /** Frees the text. The blocks may be closed already. */
  close(): void {
    this.#releaseText();
    this.#last = undefined;
    if (this.#table !== 0) this.#kernel.arena.free(this.#table, this.#tableBytes);
    this.#table = 0;
  }

  /** Whether the text has the current values. */
  get #isCurrent(): boolean {
    const isWritten = this.#text !== undefined && !this.#hasFailed;
    return isWritten && this.#kernel.run.dirtyFlags(this.#table) === 0;
  }

  /** Whether the text has the current lines, so that only changed values must be written. */
  get #hasCurrentLines(): boolean {
    if (this.#text === undefined || this.#hasFailed) return false;
    return (this.#kernel.run.dirtyFlags(this.#table) & LINES_CHANGED) === 0;
  }

  /** The maximum size of the text. */
  get #maxBytes(): number {
    return this.#headerBytes + this.#lineBytes + this.#lines * MAX_VALUE_BYTES + PADDING_BYTES;
  }

  #measure(): void {
    this.#lines = 0;
    this.#lineBytes = 0;
    for (const { block } of this.blocks) {
      this.#lines += block.count;
      this.#lineBytes += block.bytes;
    }
  }

  get #tableBytes(): number {
    const items = this.blocks.length * CHUNK_BLOCK_BYTES;
    return CHUNK_BLOCKS + items + this.#headerBytes + PADDING_BYTES;
  }

  #makeText({ hasText, context }: RenderOptions): ChunkText {
    const text = hasText ? this.#text : undefined;
    const buffers = text === undefined ? [] : [text];
    let bytes = text === undefined ? 0 : text.length - this.#headerBytes;
    let deflateBlocks: DeflateBlock[] | undefined;
    if (context !== undefined) {
      deflateBlocks = [];
      let deflatedBytes = 0;
      for (const { block } of this.blocks) {
        if (block.deflateBlock === undefined) continue;
        const { buffer, ...sizes } = block.deflateBlock;
        deflateBlocks.push({ data: buffer.view, ...sizes });
        deflatedBytes += sizes.bytes;
        buffers.push(buffer);
      }
      if (!hasText) bytes = deflatedBytes;
    }
    return { blocks: this.blocks, bytes, text, offsets: this.#offsets, deflateBlocks, buffers };
  }

  get #offsets(): readonly number[] {
    if (this.#text === undefined) return [];
    const { u32 } = this.#kernel;
    const offsets: number[] = [];
    let at = this.#table + CHUNK_BLOCKS;
    for (const { header } of this.blocks) {
      offsets.push((u32[(at + CHUNK_BLOCK_START) >>> 2] ?? 0) - (header?.bytes ?? 0));
      at += CHUNK_BLOCK_BYTES;
    }
    offsets.push(this.#text.length);
    return offsets;
  }

  #releaseText(): void {
    this.#text?.release();
    this.#text = undefined;
  }

  #makeTable(): void {
    this.#table = this.#kernel.arena.allocate(this.#tableBytes);
    const { u32 } = this.#kernel;
    u32[this.#table >>> 2] = this.blocks.length;
    let at = this.#table + CHUNK_BLOCKS;
    let headerAt = at + this.blocks.length * CHUNK_BLOCK_BYTES;
    for (const { block, header } of this.blocks) {
      const bytes = header?.bytes ?? 0;
      if (header !== undefined) this.#kernel.view(headerAt, bytes).write(header.text);
      u32[at >>> 2] = block.address;
      u32[(at + CHUNK_BLOCK_HEADER) >>> 2] = headerAt;
      u32[(at + CHUNK_BLOCK_HEADER_LENGTH) >>> 2] = bytes;
      headerAt += bytes;
      at += CHUNK_BLOCK_BYTES;
    }
  }
}
