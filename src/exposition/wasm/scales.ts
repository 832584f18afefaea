// The scales of values in the kernel's memory: reference-counted, in a table that grows.
import { SCALES_CELL } from './layout.js';
import type { Arena } from './memory.js';

/** A value times `multiply`, then divided by `divide`: exact for decimal fractions. */
export interface Scale {
  readonly multiply: number;
  readonly divide: number;
}

/** The most that fit an op code: 16 bits. */
const MAX_SCALES = 65_536;
const SCALE_BYTES = 16;
const SCALED = 0x100;

/** The memory of the table. */
interface Memory {
  readonly arena: Arena;
  readonly bytes: Uint8Array;
  readonly u32: Uint32Array;
  readonly f64: Float64Array;
}

interface Held {
  readonly index: number;
  readonly key: string;
  holders: number;
}

export class Scales {
  readonly #memory: Memory;
  readonly #byKey = new Map<string, Held>();
  #byIndex: (Held | undefined)[] = [];
  #free: number[] = [];
  #at = 0;
  #capacity = 0;
  /** Tables that became too small: all of them together are as large as the present one. */
  #former: { readonly at: number; readonly bytes: number }[] = [];

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  /**
   * Returns what to add to an op code so that it scales; undefined while the table is full. Call
   * `release` with it once for each `hold`.
   */
  hold({ multiply, divide }: Scale): number | undefined {
    if (multiply === 1 && divide === 1) return 0;
    const key = `${multiply}/${divide}`;
    const held = this.#byKey.get(key) ?? this.#add(key, multiply, divide);
    if (held === undefined) return undefined;
    held.holders++;
    return (SCALED | (held.index << 16)) >>> 0;
  }

  release(flags: number): void {
    const held = flags === 0 ? undefined : this.#byIndex[flags >>> 16];
    if (held === undefined || --held.holders > 0) return;
    this.#byKey.delete(held.key);
    this.#byIndex[held.index] = undefined;
    this.#free.push(held.index);
    if (this.#byKey.size === 0) this.#clear();
  }

  #add(key: string, multiply: number, divide: number): Held | undefined {
    const index = this.#free.pop() ?? this.#byIndex.length;
    if (index === MAX_SCALES) return undefined;
    if (index === this.#capacity) this.#grow();
    const held = { index, key, holders: 0 };
    this.#byKey.set(key, held);
    this.#byIndex[index] = held;
    const { f64 } = this.#memory;
    const at = (this.#at + index * SCALE_BYTES) / 8;
    f64[at] = multiply;
    f64[at + 1] = divide;
    return held;
  }

  #grow(): void {
    const bytes = this.#capacity * SCALE_BYTES;
    const capacity = Math.max(64, this.#capacity * 2);
    const { arena } = this.#memory;
    const at = arena.take(capacity * SCALE_BYTES);
    this.#memory.bytes.copyWithin(at, this.#at, this.#at + bytes);
    // An instance in another thread may have read where it was, and read a scale only now.
    if (bytes > 0) this.#former.push({ at: this.#at, bytes });
    this.#at = at;
    this.#capacity = capacity;
    Atomics.store(this.#memory.u32, SCALES_CELL / 4, at);
  }

  #clear(): void {
    this.#memory.arena.give(this.#at, this.#capacity * SCALE_BYTES);
    for (const { at, bytes } of this.#former) this.#memory.arena.give(at, bytes);
    this.#former = [];
    this.#byIndex = [];
    this.#free = [];
    this.#capacity = 0;
  }
}
