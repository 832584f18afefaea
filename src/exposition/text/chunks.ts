// Divides the blocks of a text into chunks, and divides them again after blocks were added or removed.
import type { FamilyMetadata } from '../../model.js';
import type { Kernel } from '../wasm/kernel.js';
import type { Block } from './block.js';
import { Chunk } from './chunk.js';
import type { Family } from './family.js';

/**
 * The maximum size of a chunk with several blocks. Larger chunks would need fewer writes, but a value that changes its
 * length would move more text.
 */
const MAX_BYTES = 131_072;
/** Dividing this many blocks takes about 0.05 ms. */
const BLOCKS_A_STEP = 64;

export class Chunks {
  readonly #kernel: Kernel;
  #all: readonly Chunk[] = [];
  #metadata: readonly FamilyMetadata[] = [];
  #isCurrent = true;
  /** Replaced chunks whose memory is not freed yet. */
  #retired: Chunk[] = [];

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
  }

  /** All chunks, in the order of the page. */
  get all(): readonly Chunk[] {
    return this.#all;
  }

  /** The metadata of all families. The list changes only with the families. */
  get metadata(): readonly FamilyMetadata[] {
    return this.#metadata;
  }

  /** Call it if blocks were added or removed, or if a chunk is too large. The next render divides the blocks again. */
  invalidate(): void {
    this.#isCurrent = false;
  }

  /**
   * Fills one chunk after the other, in small steps. An existing chunk is kept with its text if it is at least half
   * full and its blocks still follow each other. So an added or removed block affects only the chunks next to it.
   */
  *dividing(families: Iterable<Family>): Generator<void, void> {
    yield* this.#freeingRetired();
    if (this.#isCurrent) return;
    const metadata: FamilyMetadata[] = [];
    const blocks: Block[] = [];
    for (const family of families) {
      metadata.push(family.metadata);
      for (const block of family.blocks) {
        blocks.push(block);
        if (blocks.length % BLOCKS_A_STEP === 0) yield;
      }
    }
    const former = new Map<Block | undefined, Chunk>();
    for (const chunk of this.#all) former.set(chunk.blocks[0], chunk);
    const all: Chunk[] = [];
    let open: Block[] = [];
    let bytes = 0;
    const close = (): void => {
      if (open.length === 0) return;
      const same = former.get(open[0]);
      const isSame = same?.blocks.length === open.length && hasAt(same.blocks, open, 0);
      all.push(isSame ? same : new Chunk(this.#kernel, open));
      open = [];
      bytes = 0;
    };
    for (let at = 0, next = blocks[0]; next !== undefined; next = blocks[at]) {
      const kept = former.get(next);
      if (kept !== undefined && isHalfFull(kept) && hasAt(kept.blocks, blocks, at)) {
        close();
        all.push(kept);
        at += kept.blocks.length;
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
    this.#retired = this.#all.filter((chunk) => !kept.has(chunk));
    this.#all = all;
    if (!hasSameItems(metadata, this.#metadata)) this.#metadata = metadata;
    this.#isCurrent = true;
    yield* this.#freeingRetired();
  }

  /** Frees the text of all chunks, one chunk per step. The blocks may be closed already. */
  *closing(): Generator<void, void> {
    this.#retired.push(...this.#all);
    this.#all = this.#metadata = [];
    yield* this.#freeingRetired();
  }

  *#freeingRetired(): Generator<void, void> {
    for (let last = this.#retired.pop(); last !== undefined; last = this.#retired.pop()) {
      last.close();
      yield;
    }
  }
}

/** Whether a chunk has grown so much that its blocks must be divided among several chunks. */
export const isTooLarge = ({ blocks, bytes }: Chunk): boolean =>
  blocks.length > 1 && bytes > 2 * MAX_BYTES;

const isHalfFull = (chunk: Chunk): boolean => chunk.bytes >= MAX_BYTES / 2 && !isTooLarge(chunk);

/** Whether `all` contains the blocks `some`, in the same order, from an index on. */
const hasAt = (some: readonly Block[], all: readonly Block[], index: number): boolean =>
  some.every((block, i) => block === all[index + i]);

const hasSameItems = (some: readonly unknown[], others: readonly unknown[]): boolean =>
  some.length === others.length && some.every((item, index) => item === others[index]);
