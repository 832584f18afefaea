// A chunk: consecutive blocks whose text is in one buffer, which pages send without a copy.
import type { Piece } from '../../model.js';
import { PADDING_BYTES } from '../wasm/kernel.js';
import type { Kernel } from '../wasm/kernel.js';
import {
  CHUNK_BLOCKS,
  CHUNK_BLOCK_BYTES,
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

/** The output of a chunk in one render. */
export interface RenderedChunk {
  /** The lines of each family; empty if the render wrote no text. */
  readonly text: readonly Piece[];
  /** The lines of each block; empty if the render wrote no deflate blocks. */
  readonly deflated: readonly Piece[];
  /** The buffers of both. */
  readonly buffers: readonly RenderBuffer[];
}

export class Chunk implements RenderTask {
  readonly blocks: readonly Block[];
  readonly #kernel: Kernel;
  /** The address of the table of blocks. The first write allocates the table. */
  #table = 0;
  #text: RenderBuffer | undefined;
  /** Whether the last write failed. */
  #hasFailed = false;
  /** The number and the approximate size of the lines at the last write of all lines. */
  #lines = 0;
  #lineBytes = 0;
  /** The output of the last render. */
  #last:
    | { readonly hasText: boolean; readonly code: unknown; readonly output: RenderedChunk }
    | undefined;

  constructor(kernel: Kernel, blocks: readonly Block[]) {
    this.#kernel = kernel;
    this.blocks = blocks;
    this.#measure();
  }

  get bytes(): number {
    return this.#lineBytes + this.blocks.length * BYTES_A_BLOCK;
  }

  /** Adds to `dirty` the tasks that the render must run. Frees the text if the render needs no text. */
  collectDirty(options: RenderOptions, dirty: RenderTask[]): void {
    const { hasText, context } = options;
    const { length } = dirty;
    if (!hasText) this.#releaseText();
    else if (!this.#isCurrent) dirty.push(this);
    if (context !== undefined)
      for (const block of this.blocks) if (!block.isCurrent(context)) dirty.push(block);
    const last = this.#last;
    const isSame = last?.hasText === hasText && last.code === context?.code;
    if (!isSame || dirty.length > length) this.#last = undefined;
  }

  /** The lines of the render with these options, after its tasks. */
  rendered(options: RenderOptions): RenderedChunk {
    const { hasText, context } = options;
    this.#last ??= { hasText, code: context?.code, output: this.#output(options) };
    return this.#last.output;
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
      for (const block of this.blocks) block.sort();
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
    return this.#lineBytes + this.#lines * MAX_VALUE_BYTES + PADDING_BYTES;
  }

  #measure(): void {
    this.#lines = 0;
    this.#lineBytes = 0;
    for (const block of this.blocks) {
      this.#lines += block.count;
      this.#lineBytes += block.bytes;
    }
  }

  get #tableBytes(): number {
    return CHUNK_BLOCKS + this.blocks.length * CHUNK_BLOCK_BYTES;
  }

  #output({ hasText, context }: RenderOptions): RenderedChunk {
    const buffers: RenderBuffer[] = [];
    const text = hasText ? this.#textPieces(buffers) : [];
    const deflated = context === undefined ? [] : this.#deflatedPieces(buffers);
    return { text, deflated, buffers };
  }

  /** The text of each family. Adds its buffer to `buffers`. */
  #textPieces(buffers: RenderBuffer[]): Piece[] {
    const text = this.#text;
    if (text === undefined) return [];
    buffers.push(text);
    const pieces: Piece[] = [];
    const { u32 } = this.#kernel;
    let start = 0;
    let lines = 0;
    let next = this.#table + CHUNK_BLOCKS;
    this.blocks.forEach(({ family, count }, index) => {
      lines += count;
      next += CHUNK_BLOCK_BYTES;
      const following = this.blocks[index + 1];
      if (following?.family === family) return;
      const end =
        following === undefined ? text.length : (u32[(next + CHUNK_BLOCK_START) >>> 2] ?? 0);
      pieces.push({
        family,
        lines,
        data: text.view.subarray(start, end),
        bytes: end - start,
        crc: 0,
      });
      start = end;
      lines = 0;
    });
    return pieces;
  }

  /** The deflate block of each block. Adds their buffers to `buffers`. */
  #deflatedPieces(buffers: RenderBuffer[]): Piece[] {
    const pieces: Piece[] = [];
    for (const { family, count, deflateBlock } of this.blocks) {
      if (deflateBlock === undefined) continue;
      const { buffer, crc, bytes } = deflateBlock;
      buffers.push(buffer);
      pieces.push({ family, lines: count, data: buffer.view, bytes, crc });
    }
    return pieces;
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
    for (const { address } of this.blocks) {
      u32[at >>> 2] = address;
      at += CHUNK_BLOCK_BYTES;
    }
  }
}
