// Items by their ids, which are added in ascending order. No step takes longer because there are many.
import type { Members } from '../model.js';

/** Items of one chunk: a chunk is searched, moved together and parted with at once. */
const CHUNK = 512;

/** Most objects have no children: they share this. */
const NONE: never[] = [];

interface HasId {
  readonly id: number;
}

/** In the order of their ids. Iterations go on while items come and go. */
export class ById<T extends HasId> implements Members<T> {
  /** None is empty. */
  #chunks: T[][] = NONE;
  /** The first id of each chunk, or a lower one. */
  #firsts: number[] = NONE;
  #size = 0;
  /** How often items moved to other places. */
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

  /** Adds an item with a higher id than any before. */
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
          // The last chunk may grow yet.
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

  /** The last chunk that begins with this id or a lower one; the first if none does. */
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

/** The index of the first item with this id or a higher one. */
function indexFrom(chunk: readonly HasId[], id: number): number {
  let low = 0;
  let high = chunk.length;
  // Mostly the last ones are asked for.
  if (high > 0 && (chunk[high - 1]?.id ?? 0) < id) return high;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((chunk[middle]?.id ?? 0) < id) low = middle + 1;
    else high = middle;
  }
  return low;
}
