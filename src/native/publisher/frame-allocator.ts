// Allocates frames for the publisher, in 8-byte units: size classes with free lists.

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
