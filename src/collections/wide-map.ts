// A map of many entries by number that grows in small steps: one that grows as a whole moves all of them at once.

/** With more entries, they are divided. */
const FEW = 4096;
/** A prime, so that ids at regular intervals are spread evenly. */
const PARTS = 251;

/** In no order once there are many. */
export class WideMap<V> {
  #parts: Map<number, V>[] = [new Map<number, V>()];
  #size = 0;
  /** The entry that was asked for last: mostly the next one, too. */
  #lastKey: number | undefined;
  #lastValue: V | undefined;

  get size(): number {
    return this.#size;
  }

  has(key: number): boolean {
    return this.get(key) !== undefined || this.#partOf(key).has(key);
  }

  get(key: number): V | undefined {
    if (key === this.#lastKey) return this.#lastValue;
    const value = this.#partOf(key).get(key);
    if (value === undefined) return undefined;
    this.#lastKey = key;
    return (this.#lastValue = value);
  }

  set(key: number, value: V): void {
    const part = this.#partOf(key);
    const before = part.size;
    part.set(key, value);
    if (key === this.#lastKey) this.#lastValue = value;
    this.#size += part.size - before;
    if (this.#parts.length === 1 && this.#size > FEW) this.#divide();
  }

  delete(key: number): boolean {
    const isDeleted = this.#partOf(key).delete(key);
    if (key === this.#lastKey) this.#forget();
    if (isDeleted) this.#size--;
    return isDeleted;
  }

  *keys(): Generator<number, void> {
    for (const part of this.#parts) yield* part.keys();
  }

  *values(): Generator<V, void> {
    for (const part of this.#parts) yield* part.values();
  }

  clear(): void {
    this.#parts = [new Map<number, V>()];
    this.#size = 0;
    this.#forget();
  }

  #forget(): void {
    this.#lastKey = this.#lastValue = undefined;
  }

  #partOf(key: number): Map<number, V> {
    const part = this.#parts[this.#parts.length === 1 ? 0 : key % PARTS];
    if (part === undefined) throw new RangeError(`${key} is not a whole number from 0 on`);
    return part;
  }

  #divide(): void {
    const all = this.#parts;
    this.#parts = Array.from({ length: PARTS }, () => new Map<number, V>());
    for (const part of all) for (const [key, value] of part) this.#partOf(key).set(key, value);
  }
}
