// A queue that grows and shrinks in small steps.

const CHUNK = 1024;

/** First in, first out. */
export class Backlog<T> {
  /** None is empty but the last. */
  #chunks: T[][] = [[]];
  /** Items of the first chunk that were taken. */
  #taken = 0;
  #size = 0;

  get size(): number {
    return this.#size;
  }

  add(item: T): void {
    let last = this.#chunks.at(-1);
    if (last === undefined || last.length === CHUNK) this.#chunks.push((last = []));
    last.push(item);
    this.#size++;
  }

  /** Takes the first item; undefined if the queue is empty. */
  next(): T | undefined {
    if (this.#size === 0) return undefined;
    const item = this.#chunks[0]?.[this.#taken++];
    this.#size--;
    if (this.#size === 0) this.clear();
    else if (this.#taken === CHUNK) {
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
