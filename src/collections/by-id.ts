// Lists by id and queues for millions of items. Each operation takes only a short time.
import type { LiveCollection } from '../model.js';

/** The maximum number of items in a chunk, and of items that one operation moves. */
const CHUNK = 512;

/** All empty lists share this array, to save memory: most objects have no children. */
const NONE: never[] = [];

interface HasId {
  readonly id: number;
}

/** Items in ascending order of id. Items can be added and removed during an iteration. */
export class ById<T extends HasId> implements LiveCollection<T> {
  /** The items in chunks. No chunk is empty. */
  #chunks: T[][] = NONE;
  /**
   * For each chunk, a lower bound of its ids: the first id when the chunk was created. Deletions do not update it.
   */
  #firsts: number[] = NONE;
  #size = 0;
  /** Counts deletions, which move items. A move invalidates the position of an iteration. */
  #moves = 0;

  get size(): number {
    return this.#size;
  }

  get(id: number): T | undefined {
    const chunk = this.#chunks[this.#chunkOf(id)];
    const item = chunk?.[indexFrom(chunk, id)];
    return item?.id === id ? item : undefined;
  }

  has(item: T): boolean {
    return this.get(item.id) === item;
  }

  /** Adds an item. Its id must be the highest so far. */
  add(item: T): void {
    const last = this.#chunks.at(-1);
    if (last !== undefined && last.length < CHUNK) last.push(item);
    else if (last === undefined) [this.#chunks, this.#firsts] = [[[item]], [item.id]];
    else {
      this.#chunks.push([item]);
      this.#firsts.push(item.id);
    }
    this.#size++;
  }

  delete(id: number): boolean {
    const at = this.#chunkOf(id);
    const chunk = this.#chunks[at];
    if (chunk === undefined) return false;
    const index = indexFrom(chunk, id);
    if (chunk[index]?.id !== id) return false;
    chunk.splice(index, 1);
    this.#size--;
    this.#moves++;
    const next = this.#chunks[at + 1];
    if (chunk.length === 0) this.#dropChunk(at);
    else if (next !== undefined && chunk.length + next.length <= CHUNK / 2) {
      chunk.push(...next);
      this.#dropChunk(at + 1);
    }
    return true;
  }

  [Symbol.iterator](): Iterator<T> {
    let moves = this.#moves;
    let last = -1;
    let [at, index] = [0, 0];
    return {
      next: () => {
        if (moves !== this.#moves) {
          moves = this.#moves;
          at = this.#chunkOf(last + 1);
          index = indexFrom(this.#chunks[at] ?? [], last + 1);
        }
        for (let chunk = this.#chunks[at]; chunk !== undefined; chunk = this.#chunks[at]) {
          const value = chunk[index];
          // The last chunk may still grow.
          if (value === undefined && at + 1 === this.#chunks.length) break;
          if (value !== undefined) {
            index++;
            last = value.id;
            return { done: false, value };
          }
          at++;
          index = 0;
        }
        return { done: true, value: undefined };
      },
    };
  }

  #dropChunk(at: number): void {
    this.#chunks.splice(at, 1);
    this.#firsts.splice(at, 1);
  }

  /** The index of the last chunk whose lower bound is at most `id`; 0 if there is none. */
  #chunkOf(id: number): number {
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
function indexFrom(chunk: readonly HasId[], id: number): number {
  let low = 0;
  let high = chunk.length;
  // A fast path: most lookups are for an id beyond the last item.
  if (high > 0 && (chunk[high - 1]?.id ?? 0) < id) return high;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((chunk[middle]?.id ?? 0) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** Items per chunk of a queue. */
const QUEUE_CHUNK = 1024;

/** A FIFO queue that grows and shrinks in small steps. */
export class FifoQueue<T> {
  /** The items in chunks. Only the last chunk may be empty. */
  #chunks: T[][] = [[]];
  /** The number of items that `next` has taken from the first chunk. */
  #taken = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(item: T): void {
    let last = this.#chunks.at(-1);
    if (last === undefined || last.length === QUEUE_CHUNK) this.#chunks.push((last = []));
    last.push(item);
    this.#size++;
  }

  /** Removes and returns the first item; undefined if the queue is empty. */
  next(): T | undefined {
    if (this.#size === 0) return undefined;
    const item = this.#chunks[0]?.[this.#taken++];
    this.#size--;
    if (this.#size === 0) this.clear();
    else if (this.#taken === QUEUE_CHUNK) {
      this.#chunks.shift();
      this.#taken = 0;
    }
    return item;
  }

  clear(): void {
    this.#chunks = [[]];
    this.#taken = this.#size = 0;
  }
}
