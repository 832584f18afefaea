// Allocates the kernel's memory: size classes with free lists, over memory that grows.

/** Sizes are rounded up to a quarter of a power of two, so that at most a fifth is wasted. */
export function sizeClass(bytes: number): number {
  if (bytes <= 64) return Math.max(16, Math.ceil(bytes / 16) * 16);
  const power = 2 ** Math.floor(Math.log2(bytes - 1));
  const quarter = power / 4;
  return Math.ceil(bytes / quarter) * quarter;
}

export class Arena {
  readonly #free = new Map<number, number[]>();
  readonly #grow: (bytes: number) => number;
  #top: number;
  #end: number;
  #used = 0;

  /** @param grow adds at least that many bytes and returns how many */
  constructor(start: number, end: number, grow: (bytes: number) => number) {
    this.#top = start;
    this.#end = end;
    this.#grow = grow;
  }

  /** Allocated bytes, rounded to size classes. */
  get used(): number {
    return this.#used;
  }

  /** Allocates `bytes` bytes of undefined content; returns an address, a multiple of 16. */
  take(bytes: number): number {
    const size = sizeClass(bytes);
    const at = this.#free.get(size)?.pop() ?? this.#fresh(size);
    this.#used += size;
    return at;
  }

  /** Allocates memory for what uses it; frees it again if that fails, for instance where there is no memory for more. */
  takeFor<T>(bytes: number, use: (at: number) => T): T {
    const at = this.take(bytes);
    try {
      return use(at);
    } catch (error) {
      this.give(at, bytes);
      throw error;
    }
  }

  /**
   * The same as `take`, of zeros. Memory that was never used has them, and takes no memory of the machine before
   * it is.
   * @param clear writes zeros from an address to another
   */
  takeZeros(bytes: number, clear: (from: number, to: number) => void): number {
    const size = sizeClass(bytes);
    const isUsed = (this.#free.get(size)?.length ?? 0) > 0;
    const at = this.take(bytes);
    if (isUsed) clear(at, at + bytes);
    return at;
  }

  /** Frees what `take(bytes)` allocated. */
  give(at: number, bytes: number): void {
    const size = sizeClass(bytes);
    this.#used -= size;
    const list = this.#free.get(size);
    if (list === undefined) this.#free.set(size, [at]);
    else list.push(at);
  }

  #fresh(size: number): number {
    const missing = this.#top + size - this.#end;
    if (missing > 0) this.#end += this.#grow(missing);
    const at = this.#top;
    this.#top += size;
    return at;
  }
}
