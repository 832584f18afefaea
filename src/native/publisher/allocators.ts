// Allocates the slots and frames of a segment for its publisher.
import type { SlotRef } from '../../published.js';

const MAX_INCARNATIONS = 0x7fffffff;
/** Freed slots to collect before reusing any: slots rest long enough, and values stay dense. */
const RESTING = 64;

export class SlotAllocator {
  readonly #capacity: number;
  readonly #free: SlotRef[] = [];
  #freeFrom = 0;
  #fresh = 0;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  /**
   * A free slot with its new incarnation, or undefined if all are in use. `makeReal` is called for
   * each fresh slot; if it returns false, a resting slot is used.
   */
  take(makeReal: (slot: number) => boolean = () => true): SlotRef | undefined {
    const resting = this.#free.length - this.#freeFrom;
    if (resting <= RESTING && this.#fresh < this.#capacity && makeReal(this.#fresh))
      return { slot: this.#fresh++, incarnation: 1 };
    const ref = this.#free[this.#freeFrom];
    if (ref === undefined) return undefined;
    this.#freeFrom++;
    if (this.#freeFrom > 1024 && this.#freeFrom * 2 > this.#free.length) {
      this.#free.splice(0, this.#freeFrom);
      this.#freeFrom = 0;
    }
    return ref;
  }

  /**
   * Frees a slot; returns its next incarnation, which the caller must write to its word at once.
   */
  give({ slot, incarnation }: SlotRef): number {
    const next = incarnation === MAX_INCARNATIONS ? 1 : incarnation + 1;
    this.#free.push({ slot, incarnation: next });
    return next;
  }
}

/**
 * Rounds a length up to a power of two or the midpoint below it, so that freed room can be reused.
 */
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

  /** End of the part used so far, in units. */
  get top(): number {
    return this.#top;
  }

  /** The offset of `words` units, or undefined if there is no room. */
  take(words: number): number | undefined {
    const size = sizeClass(words);
    const free = this.#free.get(size)?.pop();
    if (free !== undefined) return free;
    if (this.#top + size > this.#capacity) return undefined;
    const at = this.#top;
    this.#top += size;
    return at;
  }

  give(at: number, words: number): void {
    const size = sizeClass(words);
    const list = this.#free.get(size);
    if (list === undefined) this.#free.set(size, [at]);
    else list.push(at);
  }
}

/** How much a segment can hold. Reserved sparsely: only the used part takes memory. */
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
