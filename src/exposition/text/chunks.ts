// Chunks: consecutive blocks whose text is in one buffer, which pages send without a copy.
import type { Piece } from '../../model.js';
import { PADDING_BYTES } from '../wasm/kernel.js';
import type { Kernel } from '../wasm/kernel.js';
import { BYTES_A_BLOCK } from './block.js';
import type { Block } from './block.js';
import type { Family } from './family.js';
import { RenderBuffer } from './render-buffer.js';

/** The maximum size of a chunk with several blocks. A changed value makes the kernel copy the text of the chunk. */
const MAX_BYTES = 131_072;
/** Writing this much text takes 0.1 to 0.2 ms. */
export const BYTES_A_STEP = 262_144;
/** Dividing this many blocks takes about 0.05 ms. */
const BLOCKS_A_STEP = 64;

class Chunk {
  readonly blocks: readonly Block[];
  readonly #kernel: Kernel;
  #text: RenderBuffer | undefined;
  /** Bytes of each block's lines in the text. */
  #lengths: readonly number[] = [];
  #pieces: readonly Piece[] = [];

  constructor(kernel: Kernel, blocks: readonly Block[]) {
    this.#kernel = kernel;
    this.blocks = blocks;
  }

  /** The approximate size of the text. */
  get bytes(): number {
    return this.blocks.reduce((sum, { bytes }) => sum + bytes, 0);
  }

  /** Whether the chunk has grown so much that its blocks must be divided among several chunks. */
  get isTooLarge(): boolean {
    return this.blocks.length > 1 && this.bytes > 2 * MAX_BYTES;
  }

  get isHalfFull(): boolean {
    return this.bytes >= MAX_BYTES / 2 && !this.isTooLarge;
  }

  /** Whether the text has the current values. */
  get isCurrent(): boolean {
    return this.#text !== undefined && !this.blocks.some(({ isTextDirty }) => isTextDirty);
  }

  /** Writes the text: into the last buffer if no snapshot holds it, or into a new one. */
  write(): void {
    const { run } = this.#kernel;
    const [last, lengths] = [this.#text, this.#lengths];
    // Allocate first. Allocation can fail, and no state may change before it succeeds.
    for (const block of this.blocks) block.sort();
    const copies = this.blocks.map(
      ({ address }) => last !== undefined && run.writesAll(address) === 0,
    );
    let [capacity, lastBytes] = [PADDING_BYTES, 0];
    this.blocks.forEach(({ maxBytes }, index) => {
      const length = lengths[index] ?? 0;
      capacity += Math.max(maxBytes, length);
      lastBytes += length;
    });
    const reused = last !== undefined && last.capacity >= capacity ? last.reuse() : undefined;
    const next = reused ?? new RenderBuffer(this.#kernel, capacity);
    // Unset while the kernel writes: if a write fails, the next one must write everything.
    this.#text = undefined;
    let from = last?.address ?? 0;
    if (reused !== undefined) {
      // Move the last text to the end of the buffer, from where the kernel copies unchanged lines. The new text cannot
      // reach lines that are still to be copied, since the capacity has room for the longest value of each line.
      //
      //   | new text, written up to `at` | … | last text, copied from `from` on |
      from += reused.capacity - lastBytes;
      if (copies.includes(true)) run.copy(from, reused.address, lastBytes);
    }
    let at = next.address;
    this.#lengths = this.blocks.map(({ address }, index) => {
      const before = lengths[index] ?? 0;
      const length = run.render(address, copies[index] === true ? from : 0, before, at);
      from += before;
      at += length;
      return length;
    });
    this.#text = next;
    if (reused === undefined) last?.release();
    this.#pieces = this.#divided(next.address);
  }

  /** The text of each family. */
  #divided(address: number): Piece[] {
    const pieces: Piece[] = [];
    let [start, bytes, lines] = [address, 0, 0];
    this.blocks.forEach(({ family, count }, index) => {
      bytes += this.#lengths[index] ?? 0;
      lines += count;
      if (this.blocks[index + 1]?.family === family) return;
      const data = this.#kernel.view(start, bytes);
      pieces.push({ family, lines, data, bytes, crc: undefined });
      [start, bytes, lines] = [start + bytes, 0, 0];
    });
    return pieces;
  }

  /** Adds the text of each family to `pieces`, and its buffer to `buffers`. */
  collect(pieces: Piece[], buffers: RenderBuffer[]): void {
    if (this.#text === undefined) return;
    buffers.push(this.#text);
    pieces.push(...this.#pieces);
  }

  /** Frees the text. The blocks may be closed already. */
  close(): void {
    this.#text?.release();
    this.#text = undefined;
  }
}

/** All chunks of a text, in the order of the page. */
export class Chunks {
  readonly #kernel: Kernel;
  #all: readonly Chunk[] = [];
  #isCurrent = true;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** Call it if blocks were added or removed. The next render divides the blocks again. */
  invalidate(): void {
    this.#isCurrent = false;
  }

  /** Writes changed text in small steps. Returns the text of each family, and adds its buffers to `buffers`. */
  *rendering(
    families: Iterable<Family>,
    buffers: RenderBuffer[],
  ): Generator<void, readonly Piece[]> {
    if (!this.#isCurrent) yield* this.#dividing(families);
    const pieces: Piece[] = [];
    let bytes = 0;
    for (const chunk of this.#all) {
      const { isCurrent } = chunk;
      bytes += isCurrent ? chunk.blocks.length * BYTES_A_BLOCK : chunk.bytes;
      if (!isCurrent) chunk.write();
      chunk.collect(pieces, buffers);
      if (chunk.isTooLarge) this.invalidate();
      if (bytes < BYTES_A_STEP) continue;
      bytes = 0;
      yield;
    }
    return pieces;
  }

  /**
   * Fills one chunk after the other, in small steps. An existing chunk is kept with its text if it is at least half
   * full and its blocks still follow each other. So an added or removed block affects only the chunks next to it.
   */
  *#dividing(families: Iterable<Family>): Generator<void, void> {
    const blocks: Block[] = [];
    for (const family of families)
      for (const block of family.blocks) if (blocks.push(block) % BLOCKS_A_STEP === 0) yield;
    const former = new Map(this.#all.map((chunk) => [chunk.blocks[0], chunk]));
    const all: Chunk[] = [];
    let open: Block[] = [];
    let bytes = 0;
    const close = (): void => {
      if (open.length > 0) all.push(new Chunk(this.#kernel, open));
      open = [];
      bytes = 0;
    };
    for (let at = 0, next = blocks[0]; next !== undefined; next = blocks[at]) {
      const known = former.get(next);
      if (known?.isHalfFull === true && known.blocks.every((each, i) => each === blocks[at + i])) {
        close();
        all.push(known);
        at += known.blocks.length;
        yield;
        continue;
      }
      if (bytes + next.bytes > MAX_BYTES) close();
      open.push(next);
      bytes += next.bytes;
      if (++at % BLOCKS_A_STEP === 0) yield;
    }
    close();
    const kept = new Set(all);
    for (const chunk of this.#all) if (!kept.has(chunk)) chunk.close();
    this.#all = all;
    this.#isCurrent = true;
  }

  /** Frees the text of all chunks. The blocks may be closed already. */
  close(): void {
    for (const chunk of this.#all) chunk.close();
    this.#all = [];
    this.#isCurrent = false;
  }
}
