// The numbers by which the kernel finds blocks: a table of their headers that grows.
import { Fault } from '../../errors.js';
import { BLOCKS_CELL, ENTRY_BITS } from './layout.js';
import type { Arena } from './memory.js';

/** As many as fit beside an entry's number in 31 bits. */
const MAX_BLOCKS = 2 ** (31 - ENTRY_BITS);
const FIRST_CAPACITY = 64;

/** The memory of the table. */
interface Memory {
  readonly arena: Arena;
  readonly bytes: Uint8Array;
  readonly u32: Uint32Array;
}

export class BlockNumbers {
  readonly #memory: Memory;
  readonly #free: number[] = [];
  #at = 0;
  #capacity = 0;
  /** 0 is no block's: cells without lines have it. */
  #next = 1;

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  /** A number for the block with this header. @throws Fault NATIVE_FAILED when all are taken */
  take(header: number): number {
    const number = this.#free.pop() ?? this.#fresh();
    this.#memory.u32[(this.#at >>> 2) + number] = header;
    return number;
  }

  headerOf(number: number): number {
    return this.#memory.u32[(this.#at >>> 2) + number] ?? 0;
  }

  give(number: number): void {
    this.#free.push(number);
    if (this.#free.length < this.#next - 1) return;
    this.#memory.arena.give(this.#at, this.#capacity * 4);
    this.#free.length = 0;
    this.#capacity = 0;
    this.#next = 1;
  }

  #fresh(): number {
    if (this.#next === MAX_BLOCKS)
      throw new Fault('NATIVE_FAILED', 'The lines of a partition need too many blocks');
    if (this.#next >= this.#capacity) this.#grow();
    return this.#next++;
  }

  #grow(): void {
    const { arena } = this.#memory;
    const [former, bytes] = [this.#at, this.#capacity * 4];
    const grown = Math.max(FIRST_CAPACITY, this.#capacity * 2);
    // First, since there may be no memory for it.
    this.#at = arena.take(grown * 4);
    this.#capacity = grown;
    this.#memory.bytes.copyWithin(this.#at, former, former + bytes);
    if (bytes > 0) arena.give(former, bytes);
    this.#memory.u32[BLOCKS_CELL >>> 2] = this.#at;
  }
}
