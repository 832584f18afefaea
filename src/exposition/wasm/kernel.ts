// The kernel's module and memory, with an arena beside it.
import { readFileSync } from 'node:fs';
import { Fault, messageOf } from '../../errors.js';
import { BlockNumbers } from './block-numbers.js';
import type { KernelExports } from './kernel-exports.js';
import { CRC_TABLES_CELL, FREE_AT, RESULT_AT } from './layout.js';
import { Arena, TextStore } from './memory.js';
import { Scales } from './scales.js';
import { writeTables } from './tables.js';

/** How the kernel reads a value's 8 bytes; the result of `Scales.hold` is added to it. */
export const OP = { u64: 1, i64: 2, f64: 3, bool: 4, wrapped: 5 } as const;
export type Op = (typeof OP)[keyof typeof OP];

/** So many bytes behind what it writes may the kernel overwrite, and behind what it reads, read. */
export const OVERRUN = 16;

const WASM_PAGE = 65_536;
const INITIAL_PAGES = 16;
const MAX_PAGES = 65_536;

let compiled: WebAssembly.Module | undefined;

/** The code of the kernel. The first call reads it, unless another thread has shared it. */
export const kernelCode = (): WebAssembly.Module =>
  (compiled ??= new WebAssembly.Module(readFileSync(new URL('kernel.wasm', import.meta.url))));

/** Has this thread use the code that another thread read: an upgrade may replace the file later. */
export function shareKernelCode(code: WebAssembly.Module): void {
  compiled = code;
}

/** Shared, because its buffers then survive growth and can be sent while a worker renders. */
function reserve(maximum: number): WebAssembly.Memory {
  try {
    return new WebAssembly.Memory({ initial: INITIAL_PAGES, maximum, shared: true });
  } catch (cause) {
    throw new Fault(
      'NATIVE_FAILED',
      'The memory of a partition cannot be reserved: each takes 10 GiB of address space, of which only what is used takes memory; ' +
        `raise ulimit -v (LimitAS= of a unit), or set fewer target_workers (${messageOf(cause)})`,
      { cause },
    );
  }
}

export interface KernelOptions {
  /** Of 64 KiB. */
  readonly maxPages?: number | undefined;
}

/** One instance: its memory holds copied values, line tables and text of one partition. */
export class Kernel {
  readonly run: KernelExports;
  readonly arena: Arena;
  readonly scales: Scales;
  readonly blocks: BlockNumbers;
  readonly texts: TextStore;
  /** Inner CRC and number of bytes of the lines that were deflated last. */
  readonly written: Uint32Array;
  readonly #memory: WebAssembly.Memory;
  readonly #maxPages: number;
  #bytes: Uint8Array;
  #u32: Uint32Array;
  #u64: BigUint64Array;
  #f64: Float64Array;

  /** @throws Fault NATIVE_FAILED when the system reserves no more address space */
  constructor({ maxPages = MAX_PAGES }: KernelOptions = {}) {
    this.#maxPages = maxPages;
    this.#memory = reserve(maxPages);
    writeTables(this.#memory.buffer);
    const instance = new WebAssembly.Instance(kernelCode(), { env: { memory: this.#memory } });
    this.written = new Uint32Array(this.#memory.buffer, RESULT_AT, 2);
    this.run = instance.exports as unknown as KernelExports;
    this.#bytes = new Uint8Array(this.#memory.buffer);
    this.#u32 = new Uint32Array(this.#memory.buffer);
    this.#u64 = new BigUint64Array(this.#memory.buffer);
    this.#f64 = new Float64Array(this.#memory.buffer);
    // Text is read sixteen bytes at a time, so that many are behind all that is allocated.
    const end = INITIAL_PAGES * WASM_PAGE - OVERRUN;
    this.arena = new Arena(FREE_AT, end, (bytes) => this.#grow(bytes));
    this.scales = new Scales(this);
    this.blocks = new BlockNumbers(this);
    this.texts = new TextStore(this);
  }

  /** Puts the tables of assembly/crc.ts into the memory, once. */
  installCrcTables(tables: Uint32Array): void {
    if (this.#u32[CRC_TABLES_CELL >>> 2] !== 0) return;
    const at = this.arena.take(tables.byteLength);
    this.#u32.set(tables, at >>> 2);
    this.#u32[CRC_TABLES_CELL >>> 2] = at;
  }

  /** Views of the whole memory as it is now. Do not keep them across an allocation. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }
  get u32(): Uint32Array {
    return this.#u32;
  }
  get u64(): BigUint64Array {
    return this.#u64;
  }
  get f64(): Float64Array {
    return this.#f64;
  }

  /** A view of the memory that stays valid when the memory grows. */
  window(at: number, bytes: number): Buffer {
    return Buffer.from(this.#memory.buffer, at, bytes);
  }

  #grow(bytes: number): number {
    const pages = Math.ceil(bytes / WASM_PAGE);
    const have = this.#memory.buffer.byteLength / WASM_PAGE;
    // Doubling small memories and adding an eighth to large ones keeps growth rare and waste small.
    const wanted = Math.max(pages, Math.min(have, Math.max(INITIAL_PAGES, have >> 3)));
    const step = Math.min(wanted, this.#maxPages - have);
    if (step < pages) {
      const mib = (this.#maxPages * WASM_PAGE) / 2 ** 20;
      throw new Fault(
        'NATIVE_FAILED',
        `The text of a partition needs more than ${mib} MiB of memory`,
      );
    }
    this.#memory.grow(step);
    this.#bytes = new Uint8Array(this.#memory.buffer);
    this.#u32 = new Uint32Array(this.#memory.buffer);
    this.#u64 = new BigUint64Array(this.#memory.buffer);
    this.#f64 = new Float64Array(this.#memory.buffer);
    return step * WASM_PAGE;
  }
}
