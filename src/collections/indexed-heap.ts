// A priority queue whose items can be deleted by id.

/** A binary heap with an index of its items by id: adding and deleting take a logarithmic number of steps. */
export class IndexedHeap<T extends { readonly id: number }> {
  readonly #isBefore: (a: T, b: T) => boolean;
  readonly #heap: T[] = [];
  /** The index of each item in the heap, by item id. */
  readonly #indexOf = new Map<number, number>();

  constructor(isBefore: (a: T, b: T) => boolean) {
    this.#isBefore = isBefore;
  }

  /** The item that comes before all other items; undefined if the heap is empty. */
  get first(): T | undefined {
    return this.#heap[0];
  }

  get size(): number {
    return this.#heap.length;
  }

  has({ id }: T): boolean {
    return this.#indexOf.has(id);
  }

  add(item: T): void {
    if (!this.has(item)) this.#rise(item, this.#heap.length);
  }

  delete(item: T): void {
    const index = this.#indexOf.get(item.id);
    const last = this.#heap.pop();
    if (index === undefined || last === undefined) {
      if (last !== undefined) this.#heap.push(last);
      return;
    }
    this.#indexOf.delete(item.id);
    if (last.id !== item.id) this.#sink(last, this.#rise(last, index));
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
      const below = this.#firstBelow(index);
      const child = this.#heap[below];
      if (child === undefined || !this.#isBefore(child, item)) break;
      this.#place(child, index);
      index = below;
    }
    this.#place(item, index);
  }

  #firstBelow(index: number): number {
    const left = this.#heap[index * 2 + 1];
    const right = this.#heap[index * 2 + 2];
    const isRight = left !== undefined && right !== undefined && this.#isBefore(right, left);
    return index * 2 + (isRight ? 2 : 1);
  }

  #place(item: T, index: number): void {
    this.#heap[index] = item;
    this.#indexOf.set(item.id, index);
  }
}

/** Whether `item` is newer than `than`: the newer item has the higher id. For heaps with the newest item first. */
export const isNewer = (item: { readonly id: number }, than: { readonly id: number }): boolean =>
  item.id > than.id;
