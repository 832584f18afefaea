// A queue that holds each item at most once.

export class Backlog<T> {
  readonly #items = new Set<T>();
  /** One iterator for all calls of `next`: a new one would skip over every item removed before. */
  #rest: Iterator<T> | undefined;

  get size(): number {
    return this.#items.size;
  }

  /** Adds an item to the end, unless it is queued already. */
  add(item: T): void {
    this.#items.add(item);
  }

  /** Removes the first item; undefined if the queue is empty. */
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
