// Finds the cells in kernel memory that changed since the last check.
import { WideMap } from '../../collections/wide-map.js';
import type { Kernel } from '../wasm/kernel.js';
import { Scratch } from '../wasm/memory.js';

/** The most unchanged items that one check reports again. */
const MAX_REPEATED = 1024;

/** The address of a cell, and the bits that it had at the last check. */
const ENTRY_BYTES = 16;
const FIRST_CAPACITY = 64;

export class CellChangeDetector<T extends { readonly id: number }> {
  readonly #kernel: Kernel;
  readonly #scratch: Scratch;
  readonly #items: T[] = [];
  /** By id. */
  readonly #indexOf = new WideMap<number>();
  /** Ids of the items to report at the next check, whether they change or not. */
  readonly #again = new Set<number>();
  #at: number;
  #capacity = FIRST_CAPACITY;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.#scratch = new Scratch(kernel);
    this.#at = kernel.arena.allocate(FIRST_CAPACITY * ENTRY_BYTES);
  }

  /** CellChangeDetector the 8 bytes at `address` for an item, once. */
  add(item: T, address: number): void {
    if (this.#indexOf.has(item.id)) return;
    if (this.#items.length === this.#capacity) this.#grow();
    const index = this.#items.push(item) - 1;
    this.#indexOf.set(item.id, index);
    const at = this.#addressOf(index);
    this.#kernel.u32[at >>> 2] = address;
    this.#kernel.u64[(at >>> 3) + 1] = this.#kernel.u64[address >>> 3] ?? 0n;
  }

  remove(item: T): void {
    const index = this.#indexOf.get(item.id);
    if (index === undefined) return;
    this.#indexOf.delete(item.id);
    const last = this.#items.pop();
    if (last !== undefined && last.id !== item.id) this.#move(this.#items.length, index, last);
  }

  /** Makes a later check report an item, whether it changes or not. */
  reportAgain(item: T): void {
    this.#again.add(item.id);
  }

  /** Inverts the last bits of the items of `reportAgain`, so the next check finds them changed; the oldest go first. */
  invalidateRepeated(): void {
    const { u64 } = this.#kernel;
    let count = 0;
    for (const id of this.#again) {
      if (count++ === MAX_REPEATED) break;
      this.#again.delete(id);
      const index = this.#indexOf.get(id);
      if (index === undefined) continue;
      const seen = (this.#addressOf(index) >>> 3) + 1;
      u64[seen] = ~(u64[seen] ?? 0n);
    }
  }

  /** The items whose bits differ from the last check. */
  changed(): readonly T[] {
    const count = this.#items.length;
    if (count === 0) return [];
    const out = this.#scratch.of(count * 4);
    const found = this.#kernel.run.findChanged(this.#at, count, out);
    const indices = this.#kernel.u32.subarray(out >>> 2, (out >>> 2) + found);
    return Array.from(indices, (index) => this.#items[index]).filter((item) => item !== undefined);
  }

  close(): void {
    this.#items.length = 0;
    this.#indexOf.clear();
    this.#again.clear();
    this.#scratch.close();
    this.#kernel.arena.free(this.#at, this.#capacity * ENTRY_BYTES);
  }

  #addressOf(index: number): number {
    return this.#at + index * ENTRY_BYTES;
  }

  /** Moves an entry with its last bits, so that an unreported change is still found. */
  #move(from: number, to: number, item: T): void {
    this.#items[to] = item;
    this.#indexOf.set(item.id, to);
    const source = this.#addressOf(from);
    this.#kernel.bytes.copyWithin(this.#addressOf(to), source, source + ENTRY_BYTES);
  }

  #grow(): void {
    const { arena } = this.#kernel;
    const [former, size] = [this.#at, this.#capacity * ENTRY_BYTES];
    this.#at = arena.allocate(size * 2);
    this.#capacity *= 2;
    this.#kernel.bytes.copyWithin(this.#at, former, former + size);
    arena.free(former, size);
  }
}
