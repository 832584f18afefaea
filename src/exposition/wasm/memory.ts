// The kernel's memory: an arena, a scratch buffer, reference-counted texts, and the tables of blocks and scales.
import type { Conversion } from '../../catalogue/row.js';
import { Fault } from '../../errors.js';
import {
  BLOCKS_POINTER,
  ENTRY_BITS,
  SCALED,
  SCALES_POINTER,
  SCALE_BYTES,
  SCALE_SHIFT,
  TEXT_CONTENT,
  TEXT_LENGTH,
} from './layout.js';

/**
 * Rounds a size up to a size class. There are four classes between two powers of two, so at most a fifth is wasted.
 */
export function sizeClass(bytes: number): number {
  if (bytes <= 64) return Math.max(16, Math.ceil(bytes / 16) * 16);
  const power = 2 ** Math.floor(Math.log2(bytes - 1));
  const quarter = power / 4;
  return Math.ceil(bytes / quarter) * quarter;
}

/**
 * Small allocations of a size class are next to each other, in slabs of this many bytes: rendering a million lines takes
 * twice as long if labels, cells and blocks are interleaved, since it touches more pages.
 */
const SLAB_BYTES = 262_144;

/** Allocates the kernel's memory by size classes, with a free list for each. */
export class Arena {
  readonly #freeLists = new Map<number, number[]>();
  /** The unused part of the last slab of each size class. */
  readonly #slabs = new Map<number, { at: number; readonly end: number }>();
  readonly #grow: (bytes: number) => number;
  #top: number;
  #end: number;
  #used = 0;

  /** @param grow adds at least this many bytes to the memory, and returns how many it added */
  constructor(start: number, end: number, grow: (bytes: number) => number) {
    this.#top = start;
    this.#end = end;
    this.#grow = grow;
  }

  /** Allocated bytes, rounded to size classes. */
  get used(): number {
    return this.#used;
  }

  /** Allocates `bytes` bytes of undefined content; returns an address, a multiple of 16. */
  allocate(bytes: number): number {
    const size = sizeClass(bytes);
    const at = this.#freeLists.get(size)?.pop() ?? this.#allocateNew(size);
    this.#used += size;
    return at;
  }

  /** Allocates memory and passes its address to `use`; frees it if `use` throws, for instance for lack of memory. */
  allocateFor<T>(bytes: number, use: (at: number) => T): T {
    const at = this.allocate(bytes);
    try {
      return use(at);
    } catch (error) {
      this.free(at, bytes);
      throw error;
    }
  }

  /** Frees the result of `allocate(bytes)`. */
  free(at: number, bytes: number): void {
    const size = sizeClass(bytes);
    this.#used -= size;
    const list = this.#freeLists.get(size);
    if (list === undefined) this.#freeLists.set(size, [at]);
    else list.push(at);
  }

  /** Takes a part of the slab of the size class. Larger sizes come directly from unused memory. */
  #allocateNew(size: number): number {
    if (size > SLAB_BYTES / 4) return this.#take(size);
    let slab = this.#slabs.get(size);
    if (slab === undefined || slab.at + size > slab.end) {
      const at = this.#take(SLAB_BYTES);
      slab = { at, end: at + SLAB_BYTES };
      this.#slabs.set(size, slab);
    }
    slab.at += size;
    return slab.at - size;
  }

  #take(size: number): number {
    const missing = this.#top + size - this.#end;
    if (missing > 0) this.#end += this.#grow(missing);
    const at = this.#top;
    this.#top += size;
    return at;
  }
}

/** A reusable buffer in the kernel's memory, for data that does not outlive a call. The buffer only grows. */
export class Scratch {
  readonly #arena: Arena;
  #at = 0;
  #bytes = 0;

  constructor({ arena }: { readonly arena: Arena }) {
    this.#arena = arena;
  }

  /** Returns the address of at least `bytes` bytes, valid until the next call. */
  reserve(bytes: number): number {
    if (bytes <= this.#bytes) return this.#at;
    this.close();
    this.#at = this.#arena.allocate(bytes);
    this.#bytes = bytes;
    return this.#at;
  }

  close(): void {
    if (this.#bytes > 0) this.#arena.free(this.#at, this.#bytes);
    this.#bytes = 0;
  }
}

interface Memory {
  readonly arena: Arena;
  readonly bytes: Uint8Array;
  readonly u32: Uint32Array;
  readonly f64: Float64Array;
  view(at: number, bytes: number): Buffer;
}

/** Reference-counted UTF-8 texts in the kernel's memory. */
export class TextStore {
  readonly #memory: Memory;

  constructor(memory: Memory) {
    this.#memory = memory;
  }

  /** Stores a text with this reference count; returns its address. */
  store(text: string, references = 1): number {
    const length = Buffer.byteLength(text);
    const at = this.#memory.arena.allocate(TEXT_CONTENT + length);
    const { u32 } = this.#memory;
    u32[at >>> 2] = references;
    u32[(at + TEXT_LENGTH) >>> 2] = length;
    this.#memory.view(at + TEXT_CONTENT, length).write(text, 'utf8');
    return at;
  }

  /** Removes one reference. Frees the text when no reference remains. */
  release(at: number): void {
    const { u32 } = this.#memory;
    const references = (u32[at >>> 2] ?? 0) - 1;
    u32[at >>> 2] = references;
    if (references === 0) this.#memory.arena.free(at, TEXT_CONTENT + this.lengthOf(at));
  }

  referencesTo(at: number): number {
    return this.#memory.u32[at >>> 2] ?? 0;
  }

  /** The length of a text in bytes. */
  lengthOf(at: number): number {
    return this.#memory.u32[(at + TEXT_LENGTH) >>> 2] ?? 0;
  }
}

/** A text that lines share. It is in the kernel's memory from its first use until `close()`. */
export class StoredText {
  readonly #texts: TextStore;
  readonly text: string;
  #at = 0;
  #hash: TextHash | undefined;

  constructor(texts: TextStore, text: string) {
    this.#texts = texts;
    this.text = text;
  }

  /**
   * The address of the text. A line that keeps the address adds a reference to the text, and releases the reference
   * later.
   */
  get address(): number {
    if (this.#at === 0) this.#at = this.#texts.store(this.text);
    return this.#at;
  }

  /** Whether a line refers to the text. */
  get isUsed(): boolean {
    return this.#at !== 0 && this.#texts.referencesTo(this.#at) > 1;
  }

  get hash(): TextHash {
    return (this.#hash ??= hashOf(this.text));
  }

  /** Call it when no new line will need the text. */
  close(): void {
    if (this.#at !== 0) this.#texts.release(this.#at);
    this.#at = 0;
  }
}

/** Two signed 32-bit hashes: V8 stores such numbers without allocating an object. */
export interface TextHash {
  readonly a: number;
  readonly b: number;
}

/** FNV-1a, and a variant of it. */
export function hashOf(text: string): TextHash {
  let a = 0x811c9dc5;
  let b = 0x3c6ef372;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    a = Math.imul(a ^ unit, 0x01000193);
    b = Math.imul(b ^ unit, 0x5bd1e995);
    b ^= b >>> 15;
  }
  return { a: a | 0, b: b | 0 };
}

const FIRST_CAPACITY = 64;

/** A growing table in the kernel's memory. The kernel finds it through a pointer at a fixed address. */
class Table {
  readonly #memory: Memory;
  readonly #pointer: number;
  readonly #itemBytes: number;
  #capacity = 0;
  at = 0;

  constructor(memory: Memory, pointer: number, itemBytes: number) {
    this.#memory = memory;
    this.#pointer = pointer;
    this.#itemBytes = itemBytes;
  }

  /** Ensures memory for this many items; changes nothing if memory runs out. */
  reserve(items: number): void {
    if (items <= this.#capacity) return;
    const { arena } = this.#memory;
    const [former, bytes] = [this.at, this.#capacity * this.#itemBytes];
    const capacity = Math.max(FIRST_CAPACITY, this.#capacity * 2);
    this.at = arena.allocate(capacity * this.#itemBytes);
    this.#capacity = capacity;
    this.#memory.bytes.copyWithin(this.at, former, former + bytes);
    if (bytes > 0) arena.free(former, bytes);
    this.#memory.u32[this.#pointer >>> 2] = this.at;
  }

  close(): void {
    this.#memory.arena.free(this.at, this.#capacity * this.#itemBytes);
    this.#capacity = 0;
  }
}

/** A line id has 31 bits: the number of its block, then the number of its entry. */
const MAX_BLOCKS = 2 ** (31 - ENTRY_BITS);

/** The header addresses of all blocks, by block number. Line ids refer to blocks by number. */
export class BlockTable {
  readonly #memory: Memory;
  readonly #table: Table;
  readonly #free: number[] = [];
  /** Number 0 is unused: a cell without lines holds 0. */
  #next = 1;

  constructor(memory: Memory) {
    this.#memory = memory;
    this.#table = new Table(memory, BLOCKS_POINTER, 4);
  }

  /** Assigns a number to the block with this header. @throws Fault NATIVE_FAILED when all numbers are in use */
  assign(header: number): number {
    const number = this.#free.pop() ?? this.#nextNumber();
    this.#memory.u32[(this.#table.at >>> 2) + number] = header;
    return number;
  }

  release(number: number): void {
    this.#free.push(number);
    if (this.#free.length < this.#next - 1) return;
    this.#table.close();
    this.#free.length = 0;
    this.#next = 1;
  }

  #nextNumber(): number {
    if (this.#next === MAX_BLOCKS)
      throw new Fault('NATIVE_FAILED', 'The partition has too many series; raise target_workers');
    this.#table.reserve(this.#next + 1);
    return this.#next++;
  }
}

/** The index of a scale takes 16 bits of an opcode. */
const MAX_SCALES = 2 ** (32 - SCALE_SHIFT);

/**
 * The distinct scales of a partition. A scale has two doubles: the kernel multiplies a value by one, and divides it
 * by the other. Scales come only from catalogues, and stay until the partition ends.
 */
export class Scales {
  readonly #memory: Memory;
  readonly #table: Table;
  /** The index of each scale, by its multiplier and its divisor. */
  readonly #indexes = new Map<string, number>();

  constructor(memory: Memory) {
    this.#memory = memory;
    this.#table = new Table(memory, SCALES_POINTER, SCALE_BYTES);
  }

  /** Returns the opcode that reads and scales a value; undefined if the table of scales is full. */
  scaledOpcode(opcode: number, { multiply, divide }: Conversion): number | undefined {
    if (multiply === 1 && divide === 1) return opcode;
    const key = `${multiply} ${divide}`;
    const index = this.#indexes.get(key) ?? this.#indexes.size;
    if (index === MAX_SCALES) return undefined;
    if (index === this.#indexes.size) {
      this.#table.reserve(index + 1);
      this.#memory.f64.set([multiply, divide], (this.#table.at + index * SCALE_BYTES) / 8);
      this.#indexes.set(key, index);
    }
    return (opcode | SCALED | (index << SCALE_SHIFT)) >>> 0;
  }
}
