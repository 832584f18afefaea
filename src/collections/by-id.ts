// Lists by id and queues for millions of items. Each operation takes only a short time.
import type { LiveCollection } from '../model.js';

/** The maximum number of items in a part of a list, and of items that one operation moves. */
const MAX_PART = 512;

/** All empty lists share this array, to save memory: most objects have no children. */
const NONE: never[] = [];

interface HasId {
  readonly id: number;
}

/** Items in ascending order of id. Items can be added and removed during an iteration. */
export class ById<T extends HasId> implements LiveCollection<T> {
  /** The items in parts. No part is empty. */
  #parts: T[][] = NONE;
  /**
   * For each part, a lower bound of its ids: the first id when the part was created. Deletions do not update it.
   */
  #firsts: number[] = NONE;
  #size = 0;
  /** Counts deletions, which move items. A move invalidates the position of an iteration. */
  #moves = 0;

  get size(): number {
    return this.#size;
  }

  get(id: number): T | undefined {
    const part = this.#parts[this.#partOf(id)];
    const item = part?.[indexFrom(part, id)];
    return item?.id === id ? item : undefined;
  }

  has(item: T): boolean {
    return this.get(item.id) === item;
  }

  /** Adds an item. Its id must be the highest so far. */
  add(item: T): void {
    const last = this.#parts.at(-1);
    if (last !== undefined && last.length < MAX_PART) last.push(item);
    else if (last === undefined) [this.#parts, this.#firsts] = [[[item]], [item.id]];
    else {
      this.#parts.push([item]);
      this.#firsts.push(item.id);
    }
    this.#size++;
  }

  delete(id: number): boolean {
    const at = this.#partOf(id);
    const part = this.#parts[at];
    if (part === undefined) return false;
    const index = indexFrom(part, id);
    if (part[index]?.id !== id) return false;
    part.splice(index, 1);
    this.#size--;
    this.#moves++;
    const next = this.#parts[at + 1];
    if (part.length === 0) this.#dropPart(at);
    else if (next !== undefined && part.length + next.length <= MAX_PART / 2) {
      part.push(...next);
      this.#dropPart(at + 1);
    }
    return true;
  }

  *[Symbol.iterator](): Generator<T, void> {
    let moves = this.#moves;
    let [at, index] = [0, 0];
    for (let part = this.#parts[at]; part !== undefined; part = this.#parts[at]) {
      const item = part[index];
      if (item === undefined) {
        at++;
        index = 0;
        continue;
      }
      yield item;
      index++;
      if (moves === this.#moves) continue;
      moves = this.#moves;
      at = this.#partOf(item.id + 1);
      index = indexFrom(this.#parts[at] ?? [], item.id + 1);
    }
  }

  #dropPart(at: number): void {
    this.#parts.splice(at, 1);
    this.#firsts.splice(at, 1);
  }

  /** The index of the last part whose lower bound is at most `id`; 0 if there is none. */
  #partOf(id: number): number {
    const firsts = this.#firsts;
    let low = 0;
    let high = firsts.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((firsts[middle] ?? 0) <= id) low = middle + 1;
      else high = middle;
    }
    return Math.max(0, low - 1);
  }
}

/** The index of the first item whose id is not lower than `id`. */
function indexFrom(part: readonly HasId[], id: number): number {
  let low = 0;
  let high = part.length;
  // A fast path: most lookups are for an id beyond the last item.
  if (high > 0 && (part[high - 1]?.id ?? 0) < id) return high;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((part[middle]?.id ?? 0) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** The least number of taken items that the queue drops at once. */
const LEAST_DROPPED = 1024;

/** A FIFO queue. */
export class FifoQueue<T> {
  #items: (T | undefined)[] = [];
  /** The number of items at the start of `#items` that `next` has taken. */
  #taken = 0;

  get size(): number {
    return this.#items.length - this.#taken;
  }

  add(item: T): void {
    this.#items.push(item);
  }

  /** Removes and returns the first item; undefined if the queue is empty. */
  next(): T | undefined {
    if (this.size === 0) return undefined;
    const item = this.#items[this.#taken];
    this.#items[this.#taken++] = undefined;
    if (this.#taken >= LEAST_DROPPED && this.#taken * 2 >= this.#items.length) {
      this.#items = this.#items.slice(this.#taken);
      this.#taken = 0;
    }
    return item;
  }

  clear(): void {
    this.#items = [];
    this.#taken = 0;
  }
}
