// A priority queue that lists its first items, and that follows changes of their order.

/** An item stores its own position, since a table of positions would cost more than the rest of the heap. */
export interface Ranked {
  /** The index in the heap; undefined outside of it. Only the heap sets it. */
  position: number | undefined;
}

/** A binary heap. Adding, moving and deleting an item take a logarithmic number of steps. */
export class Ranking<T extends Ranked> {
  readonly #isBefore: (a: T, b: T) => boolean;
  readonly #heap: T[] = [];

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
  }

  add(item: T): void {
    if (item.position === undefined) this.#rise(item, this.#heap.length);
  }

  /** Moves an item after a change of its order. */
  update(item: T): void {
    if (item.position !== undefined) this.#sink(item, this.#rise(item, item.position));
  }

  delete(item: T): void {
    const { position } = item;
    if (position === undefined) return;
    item.position = undefined;
    const last = this.#heap.pop();
    if (last !== undefined && last !== item) this.#sink(last, this.#rise(last, position));
  }

  /** Up to `count` items that come before all others, in their order. */
  firsts(count: number): T[] {
    const firsts: T[] = [];
    /** The items whose parents are in `firsts`. */
    const candidates = this.#heap.slice(0, 1);
    while (firsts.length < count) {
      const next = candidates.reduce<T | undefined>(
        (first, each) => (first === undefined || this.#isBefore(each, first) ? each : first),
        undefined,
      );
      if (next?.position === undefined) break;
      firsts.push(next);
      const left = next.position * 2 + 1;
      candidates.splice(candidates.indexOf(next), 1, ...this.#heap.slice(left, left + 2));
    }
    return firsts;
  }

  /** Moves an item from an index towards the root until its parent is before it; returns its final index. */
  #rise(item: T, from: number): number {
    let index = from;
    while (index > 0) {
      const above = (index - 1) >> 1;
      const parent = this.#heap[above];
      if (parent === undefined || !this.#isBefore(item, parent)) break;
      this.#place(parent, index);
      index = above;
    }
    this.#place(item, index);
    return index;
  }

  #sink(item: T, from: number): void {
    let index = from;
    for (;;) {
      const left = this.#heap[index * 2 + 1];
      const right = this.#heap[index * 2 + 2];
      if (left === undefined) break;
      const isRight = right !== undefined && this.#isBefore(right, left);
      const child = isRight ? right : left;
      if (!this.#isBefore(child, item)) break;
      this.#place(child, index);
      index = index * 2 + (isRight ? 2 : 1);
    }
    this.#place(item, index);
  }

  #place(item: T, index: number): void {
    this.#heap[index] = item;
    item.position = index;
  }
}
