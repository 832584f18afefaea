// The table of lines that the kernel renders: 32 bytes per line, drawn in assembly/index.ts.
import type { Kernel } from './kernel.js';

export const LINE_BYTES = 32;
/** The most bytes of a line's value: 25 bytes (-0.0000012345678901234567) and the line feed. */
export const VALUE_ROOM = 26;

/** The parts of a line: constant text, and the address of the value after it. */
export interface Line {
  /** Name, labels and a blank; or the whole line with its line feed when `value` is 0. */
  readonly text: string;
  /** Address of 8 bytes in the kernel's memory; 0 for a line without a value. */
  readonly value: number;
  /** One of `OP`, plus the result of `Scales.hold` for a scaled value. */
  readonly op: number;
}

/** A growing array of lines and of their texts, in the kernel's memory. */
export class LineTable {
  readonly #kernel: Kernel;
  #at: number;
  #capacity: number;
  #count = 0;
  #pool: number;
  #poolCapacity: number;
  #poolUsed = 0;
  #poolLive = 0;

  constructor(kernel: Kernel, capacity: number) {
    this.#kernel = kernel;
    this.#capacity = capacity;
    this.#at = kernel.arena.take(capacity * LINE_BYTES);
    this.#poolCapacity = capacity * 64;
    this.#pool = kernel.arena.take(this.#poolCapacity);
  }

  get address(): number {
    return this.#at;
  }
  get count(): number {
    return this.#count;
  }
  /** Lines that it has memory for. */
  get capacity(): number {
    return this.#capacity;
  }
  /** The most bytes that the rendered text needs. */
  get roomNeeded(): number {
    return this.#poolLive + this.#count * VALUE_ROOM;
  }

  insert(index: number, line: Line): void {
    this.#reserveLine();
    const text = this.#store(line.text);
    const { u32, bytes } = this.#kernel;
    const from = this.#at + index * LINE_BYTES;
    bytes.copyWithin(from + LINE_BYTES, from, this.#at + this.#count * LINE_BYTES);
    const at = from >>> 2;
    u32[at] = text;
    u32[at + 1] = this.#poolUsed - (text - this.#pool);
    u32[at + 2] = line.value;
    u32[at + 3] = line.op;
    u32.fill(0, at + 4, at + 8);
    this.#count++;
  }

  remove(index: number): void {
    const { bytes, u32 } = this.#kernel;
    const from = this.#at + index * LINE_BYTES;
    this.#poolLive -= u32[(from >>> 2) + 1] ?? 0;
    bytes.copyWithin(from, from + LINE_BYTES, this.#at + this.#count * LINE_BYTES);
    this.#count--;
  }

  line(index: number): Line {
    const { u32 } = this.#kernel;
    const at = (this.#at + index * LINE_BYTES) >>> 2;
    const text = this.#kernel.window(u32[at] ?? 0, u32[at + 1] ?? 0).toString('utf8');
    return { text, value: u32[at + 2] ?? 0, op: u32[at + 3] ?? 0 };
  }

  close(): void {
    this.#kernel.arena.give(this.#at, this.#capacity * LINE_BYTES);
    this.#kernel.arena.give(this.#pool, this.#poolCapacity);
  }

  #reserveLine(): void {
    if (this.#count < this.#capacity) return;
    const capacity = this.#capacity * 2;
    const at = this.#kernel.arena.take(capacity * LINE_BYTES);
    this.#kernel.bytes.copyWithin(at, this.#at, this.#at + this.#count * LINE_BYTES);
    this.#kernel.arena.give(this.#at, this.#capacity * LINE_BYTES);
    this.#at = at;
    this.#capacity = capacity;
  }

  /** Appends text to the pool; returns its address. */
  #store(text: string): number {
    const bytes = Buffer.byteLength(text);
    if (this.#poolUsed + bytes > this.#poolCapacity) this.#repack(bytes);
    const at = this.#pool + this.#poolUsed;
    this.#kernel.window(at, bytes).write(text, 'utf8');
    this.#poolUsed += bytes;
    this.#poolLive += bytes;
    return at;
  }

  /** Moves the texts in use to a new pool that is half as large again. */
  #repack(more: number): void {
    const capacity = Math.ceil((this.#poolLive + more) * 1.5);
    const pool = this.#kernel.arena.take(capacity);
    const { bytes, u32 } = this.#kernel;
    let used = 0;
    for (let index = 0; index < this.#count; index++) {
      const at = (this.#at + index * LINE_BYTES) >>> 2;
      const from = u32[at] ?? 0;
      const length = u32[at + 1] ?? 0;
      bytes.copyWithin(pool + used, from, from + length);
      u32[at] = pool + used;
      used += length;
    }
    this.#kernel.arena.give(this.#pool, this.#poolCapacity);
    this.#pool = pool;
    this.#poolCapacity = capacity;
    this.#poolUsed = used;
  }
}
