// Growable tables in the kernel's memory. The kernel finds each table through a pointer at a fixed address.
import type { Conversion } from '../../catalogue/row.js';
import { Fault } from '../../errors.js';
import {
  BLOCKS_POINTER,
  ENTRY_BITS,
  SCALED,
  SCALES_POINTER,
  SCALE_BYTES,
  SCALE_SHIFT,
} from './layout.js';
import type { Arena } from './memory.js';

const FIRST_CAPACITY = 64;

interface TableMemory {
  readonly arena: Arena;
  readonly bytes: Uint8Array;
  readonly u32: Uint32Array;
  readonly f64: Float64Array;
}

/** A line id has 31 bits: the number of its block, then the number of its entry. */
const MAX_BLOCKS = 2 ** (31 - ENTRY_BITS);

/** The header addresses of all blocks, by block number. Line ids refer to blocks by number. */
export class BlockTable {
  readonly #memory: TableMemory;
  readonly #free: number[] = [];
  #at = 0;
  #capacity = 0;
  /** Number 0 is unused: a cell without lines holds 0. */
  #next = 1;

  constructor(memory: TableMemory) {
    this.#memory = memory;
  }

  /** Assigns a number to the block with this header. @throws Fault NATIVE_FAILED when all numbers are in use */
  assign(header: number): number {
    const number = this.#free.pop() ?? this.#allocateNumber();
    this.#memory.u32[(this.#at >>> 2) + number] = header;
    return number;
  }

  headerOf(number: number): number {
    return this.#memory.u32[(this.#at >>> 2) + number] ?? 0;
  }

  release(number: number): void {
    this.#free.push(number);
    if (this.#free.length < this.#next - 1) return;
    this.#memory.arena.free(this.#at, this.#capacity * 4);
    this.#free.length = 0;
    this.#capacity = 0;
    this.#next = 1;
  }

  #allocateNumber(): number {
    if (this.#next === MAX_BLOCKS)
      throw new Fault('NATIVE_FAILED', 'The partition has too many series; raise target_workers');
    if (this.#next >= this.#capacity) this.#grow();
    return this.#next++;
  }

  #grow(): void {
    const { arena } = this.#memory;
    const [former, bytes] = [this.#at, this.#capacity * 4];
    const grown = Math.max(FIRST_CAPACITY, this.#capacity * 2);
    // Allocation can fail, and no state may change before it succeeds.
    this.#at = arena.allocate(grown * 4);
    this.#capacity = grown;
    this.#memory.bytes.copyWithin(this.#at, former, former + bytes);
    if (bytes > 0) arena.free(former, bytes);
    this.#memory.u32[BLOCKS_POINTER >>> 2] = this.#at;
  }
}

/** The index of a scale takes 16 bits of an opcode. */
const MAX_SCALES = 2 ** (32 - SCALE_SHIFT);

/**
 * The distinct scales of a partition. A scale has two doubles: the kernel multiplies a value by one, and divides it
 * by the other. Scales come only from catalogues, and stay until the partition ends.
 */
export class Scales {
  readonly #memory: TableMemory;
  /** The index of each scale, by its multiplier and its divisor. */
  readonly #indexes = new Map<number, Map<number, number>>();
  #count = 0;
  #at = 0;
  #capacity = 0;

  constructor(memory: TableMemory) {
    this.#memory = memory;
  }

  /** Returns the opcode that reads and scales a value; undefined if the table of scales is full. */
  scaledOpcode(opcode: number, { multiply, divide }: Conversion): number | undefined {
    if (multiply === 1 && divide === 1) return opcode;
    const index = this.#indexes.get(multiply)?.get(divide) ?? this.#add(multiply, divide);
    return index === undefined ? undefined : (opcode | SCALED | (index << SCALE_SHIFT)) >>> 0;
  }

  #add(multiply: number, divide: number): number | undefined {
    if (this.#count === MAX_SCALES) return undefined;
    if (this.#count === this.#capacity) this.#grow();
    const byDivisor = this.#indexes.get(multiply) ?? new Map<number, number>();
    this.#indexes.set(multiply, byDivisor.set(divide, this.#count));
    this.#memory.f64.set([multiply, divide], (this.#at + this.#count * SCALE_BYTES) / 8);
    return this.#count++;
  }

  #grow(): void {
    const { arena } = this.#memory;
    const [former, bytes] = [this.#at, this.#capacity * SCALE_BYTES];
    const grown = Math.max(FIRST_CAPACITY, this.#capacity * 2);
    this.#at = arena.allocate(grown * SCALE_BYTES);
    this.#capacity = grown;
    this.#memory.bytes.copyWithin(this.#at, former, former + bytes);
    if (bytes > 0) arena.free(former, bytes);
    this.#memory.u32[SCALES_POINTER >>> 2] = this.#at;
  }
}
