// Values and words of all variables of a source, in blocks of slots that belong to one owner each.

/** Slots of a block, if nothing else is said: a whole part of a page of copies. */
const BLOCK = 256;

/** Copies its present values into the slots that it has; never throws. */
export interface Owner {
  refresh(): void;
}

export class Slots {
  readonly #block: number;
  #values: BigInt64Array;
  #words: Uint32Array;
  /** By the number of the block; undefined for a free one. */
  readonly #owners: (Owner | undefined)[] = [];
  /** Slots of each owner's last block that are free, the next one last. */
  readonly #free = new Map<Owner, number[]>();

  /** @param block slots of a block: about as many as most owners need */
  constructor(block = BLOCK) {
    this.#block = block;
    this.#values = new BigInt64Array(block);
    this.#words = new Uint32Array(block);
  }

  /** A free slot in a block of this owner. */
  take(owner: Owner): number {
    const free = this.#free.get(owner) ?? [];
    this.#free.set(owner, free);
    if (free.length === 0) free.push(...this.#newBlock(owner));
    return free.pop() ?? 0;
  }

  /** The number of the present or next holder of a slot; it grows with each `release`. */
  incarnation(slot: number): number {
    return Math.max(1, (this.#words[slot] ?? 0) >>> 1);
  }

  /** Whether a slot has a value. */
  setSynced(slot: number, isSynced: boolean): void {
    this.#words[slot] = (this.incarnation(slot) << 1) | Number(isSynced);
  }

  set(slot: number, value: bigint): void {
    this.#values[slot] = value;
  }

  /** Stores a value as the bits of a double. */
  setDouble(slot: number, value: number): void {
    new Float64Array(this.#values.buffer)[slot] = value;
  }

  add(slot: number, value: bigint): void {
    this.#values[slot] = (this.#values[slot] ?? 0n) + value;
  }

  /** Frees the blocks of an owner: nobody finds a value there any more. */
  release(owner: Owner): void {
    this.#free.delete(owner);
    this.#owners.forEach((each, block) => {
      if (each !== owner) return;
      for (let slot = block * this.#block; slot < (block + 1) * this.#block; slot++)
        this.#words[slot] = (this.incarnation(slot) + 1) << 1;
      this.#owners[block] = undefined;
    });
  }

  /** Copies values, after their owners made them new. */
  readValues(first: number, count: number, into: Uint8Array): number {
    const end = Math.min(first + count, this.#values.length);
    const owners = this.#owners.slice(
      Math.floor(first / this.#block),
      Math.ceil(end / this.#block),
    );
    for (const owner of new Set(owners)) owner?.refresh();
    return copy(this.#values, first, end, into);
  }

  readWords(first: number, count: number, into: Uint8Array): number {
    return copy(this.#words, first, Math.min(first + count, this.#words.length), into);
  }

  /** The slots of a new block, from the last to the first. */
  #newBlock(owner: Owner): readonly number[] {
    const vacant = this.#owners.indexOf(undefined);
    const block = vacant < 0 ? this.#owners.length : vacant;
    this.#owners[block] = owner;
    if ((block + 1) * this.#block > this.#values.length) this.#grow();
    return Array.from({ length: this.#block }, (_, index) => (block + 1) * this.#block - 1 - index);
  }

  #grow(): void {
    const values = new BigInt64Array(this.#values.length * 2);
    const words = new Uint32Array(this.#words.length * 2);
    values.set(this.#values);
    words.set(this.#words);
    this.#values = values;
    this.#words = words;
  }
}

function copy(from: BigInt64Array | Uint32Array, first: number, end: number, into: Uint8Array) {
  if (end <= first) return 0;
  const bytes = from.BYTES_PER_ELEMENT;
  into.set(new Uint8Array(from.buffer, first * bytes, (end - first) * bytes));
  return end - first;
}
