// Items that wait, each once, in the order in which they came.

export class Backlog<T> {
  readonly #items = new Set<T>();
  /** One iterator for all calls of `next`: a new one would step over all that was taken before. */
  #rest: Iterator<T> | undefined;

  get size(): number {
    return this.#items.size;
  }

  /** Adds an item to the end, unless it waits already. */
  add(item: T): void {
    this.#items.add(item);
  }

  /** Takes the first item away; undefined when none waits. */
  next(): T | undefined {
    this.#rest ??= this.#items.values();
    const next = this.#rest.next();
    if (next.done === true) {
      this.#rest = undefined;
      return undefined;
    }
    this.#items.delete(next.value);
    return next.value;
  }

  clear(): void {
    this.#items.clear();
    this.#rest = undefined;
  }
}
