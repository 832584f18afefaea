// Allocates the slots and frames of a segment for its publisher.
import { FifoQueue } from '../../collections/by-id.js';
import type { SlotRef } from '../../published.js';

const MAX_INCARNATIONS = 0x7fffffff;
/**
 * While at most this many freed slots wait for reuse, fresh slots are taken. A higher limit would spread the values
 * over more memory.
 */
const QUARANTINE = 64;

export class SlotAllocator {
  readonly #capacity: number;
  readonly #free = new FifoQueue<SlotRef>();
  /** The first slot that was never used. */
  #firstUnused = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /**
   * Allocates a slot with its new incarnation; undefined if all are in use.
   * @param commit allocates memory for a slot that was never used; if it returns false, a freed slot is reused
   */
  allocate(commit: (slot: number) => boolean = () => true): SlotRef | undefined {
    if (
      this.#free.size <= QUARANTINE &&
      this.#firstUnused < this.#capacity &&
      commit(this.#firstUnused)
    )
      return { slot: this.#firstUnused++, incarnation: 1 };
    return this.#free.next();
  }

  /** Frees a slot; returns its next incarnation. The caller must store this incarnation in the slot's word at once. */
  free({ slot, incarnation }: SlotRef): number {
    const next = incarnation === MAX_INCARNATIONS ? 1 : incarnation + 1;
    this.#free.add({ slot, incarnation: next });
    return next;
  }
}

/** Rounds a length up to a power of two, or to three quarters of one, so that later frames fit into freed frames. */
function sizeClass(words: number): number {
  let power = 4;
  while (power < words) power *= 2;
  return words <= (power * 3) / 4 ? (power * 3) / 4 : power;
}

export class FrameAllocator {
  readonly #capacity: number;
  readonly #free = new Map<number, number[]>();
  #top = 0;

  /** @param capacity in 8-byte units */
  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /** End of the used part, in units. */
  get top(): number {
    return this.#top;
  }

  /** Allocates `words` units; returns their offset, or undefined if there is no room. */
  allocate(words: number): number | undefined {
    const size = sizeClass(words);
    const freed = this.#free.get(size)?.pop();
    if (freed !== undefined) return freed;
    if (this.#top + size > this.#capacity) return undefined;
    const at = this.#top;
    this.#top += size;
    return at;
  }

  free(at: number, words: number): void {
    const size = sizeClass(words);
    const list = this.#free.get(size);
    if (list === undefined) this.#free.set(size, [at]);
    else list.push(at);
  }
}

/** Capacity of a segment. The file is sparse: only the used part takes memory. */
export interface Capacity {
  readonly records: number;
  readonly stringBytes: number;
  readonly slots: number;
  readonly frameBytes: number;
}

export const DEFAULT_CAPACITY: Capacity = {
  records: 1 << 18,
  stringBytes: 1 << 24,
  slots: 1 << 18,
  frameBytes: 1 << 24,
};
