// A map that is mostly asked for its keys in rounds: in one order, again and again.

/** What keeps the entries. */
interface Entries<K, V> {
  get(key: K): Entry<K, V> | undefined;
  set(key: K, entry: Entry<K, V>): unknown;
  delete(key: K): boolean;
  values(): Iterable<Entry<K, V>>;
}

interface Entry<K, V> {
  /** As it was asked for last: to compare a text with itself takes no time. `GONE` for one that was deleted. */
  key: K | typeof GONE;
  readonly value: V;
  /** What was asked for after it last. */
  next: Entry<K, V> | undefined;
}

const GONE = Symbol('gone');

/** Objects of a class have the same variables in one order: what was asked for last time is asked for next. */
export class RoundMap<K, V> {
  readonly #entries: Entries<K, V>;
  #last: Entry<K, V> | undefined;

  /** @param entries keeps them: those of a map with millions of keys are to grow in small steps */
  constructor(entries: Entries<K, V> = new Map<K, Entry<K, V>>()) {
    this.#entries = entries;
  }

  get(key: K): V | undefined {
    const last = this.#last;
    if (last === undefined) return this.#find(key);
    if (last.key === key) return last.value;
    const likely = last.next;
    if (likely?.key !== key) return this.#find(key);
    this.#last = likely;
    return likely.value;
  }

  set(key: K, value: V): void {
    this.delete(key);
    this.#entries.set(key, { key, value, next: undefined });
  }

  delete(key: K): boolean {
    const entry = this.#entries.get(key);
    if (entry === undefined) return false;
    entry.key = GONE;
    // Else one that stays would keep a chain of all that came and went after it.
    entry.next = undefined;
    if (this.#last === entry) this.#last = undefined;
    return this.#entries.delete(key);
  }

  /** All keys with their values, in the order of what keeps them. */
  *[Symbol.iterator](): Generator<[K, V], void> {
    for (const { key, value } of this.#entries.values()) if (key !== GONE) yield [key, value];
  }

  #find(key: K): V | undefined {
    const entry = this.#entries.get(key);
    if (entry === undefined) return undefined;
    entry.key = key;
    if (this.#last !== undefined) this.#last.next = entry;
    this.#last = entry;
    return entry.value;
  }
}
