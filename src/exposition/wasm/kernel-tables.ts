// Growable tables in kernel memory. The kernel finds each through a pointer at a fixed address.
import { UNCHANGED } from '../../catalogue/row.js';
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

  /** Assigns a number to the block with this header. @throws Fault NATIVE_FAILED when all are in use */
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

interface CountedScale {
  readonly index: number;
  readonly key: string;
  references: number;
}

/** The reference-counted scales of a partition. The kernel multiplies a value by one double and divides by another. */
export class Scales {
  readonly #memory: TableMemory;
  readonly #byKey = new Map<string, CountedScale>();
  #byIndex: (CountedScale | undefined)[] = [];
  #free: number[] = [];
  #at = 0;
  #capacity = 0;

  constructor(memory: TableMemory) {
    this.#memory = memory;
  }

  /**
   * Returns the flags of an opcode that scales values; undefined while the table is full.
   * Each `acquire` needs one `release` with its flags.
   */
  acquire({ multiply, divide }: Conversion): number | undefined {
    if (multiply === 1 && divide === 1) return 0;
    const key = `${multiply}/${divide}`;
    const held = this.#byKey.get(key) ?? this.#add(key, multiply, divide);
    if (held === undefined) return undefined;
    held.references++;
    return (SCALED | (held.index << SCALE_SHIFT)) >>> 0;
  }

  release(flags: number): void {
    const held = flags === 0 ? undefined : this.#byIndex[flags >>> SCALE_SHIFT];
    if (held === undefined || --held.references > 0) return;
    this.#byKey.delete(held.key);
    this.#byIndex[held.index] = undefined;
    this.#free.push(held.index);
    if (this.#byKey.size === 0) this.#clear();
  }

  #add(key: string, multiply: number, divide: number): CountedScale | undefined {
    const index = this.#free.pop() ?? this.#byIndex.length;
    if (index === MAX_SCALES) return undefined;
    if (index === this.#capacity) this.#grow();
    const held = { index, key, references: 0 };
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
    const capacity = Math.max(FIRST_CAPACITY, this.#capacity * 2);
    const { arena } = this.#memory;
    const at = arena.allocate(capacity * SCALE_BYTES);
    this.#memory.bytes.copyWithin(at, this.#at, this.#at + bytes);
    if (bytes > 0) arena.free(this.#at, bytes);
    this.#at = at;
    this.#capacity = capacity;
    this.#memory.u32[SCALES_POINTER >>> 2] = at;
  }

  #clear(): void {
    this.#memory.arena.free(this.#at, this.#capacity * SCALE_BYTES);
    this.#byIndex = [];
    this.#free = [];
    this.#capacity = 0;
  }
}

/** The scales that the rows of one target hold. */
export class TargetScales {
  readonly #scales: Scales;
  readonly #flags = new Map<Conversion, number>();

  constructor(scales: Scales) {
    this.#scales = scales;
  }

  /** Returns the opcode that reads and scales a value; undefined while the table of scales is full. */
  scaledOpcode(opcode: number, conversion: Conversion): number | undefined {
    if (conversion === UNCHANGED) return opcode;
    const flags = this.#flags.get(conversion) ?? this.#acquire(conversion);
    return flags === undefined ? undefined : (opcode | flags) >>> 0;
  }

  close(): void {
    for (const flags of this.#flags.values()) this.#scales.release(flags);
    this.#flags.clear();
  }

  #acquire(conversion: Conversion): number | undefined {
    const flags = this.#scales.acquire(conversion);
    if (flags !== undefined) this.#flags.set(conversion, flags);
    return flags;
  }
}
