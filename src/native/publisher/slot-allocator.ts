// Allocates slots of a segment for the publisher: the slot that has been free longest first.
import type { SlotRef } from '../../model.js';

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
