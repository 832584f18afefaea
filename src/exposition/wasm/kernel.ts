// The kernel's module and memory: the render code in WebAssembly, and views of the memory that it works on.
import { readFileSync } from 'node:fs';
import { Fault, messageOf } from '../../errors.js';
import {
  CRC_TABLES_POINTER,
  FREE_AT,
  HIGHEST_EXPONENT,
  LOWEST_EXPONENT,
  OPCODE_BOOL,
  OPCODE_F64,
  OPCODE_I64,
  OPCODE_U64,
  OPCODE_WRAP32,
  POWERS_AT,
  POWER_BYTES,
} from './layout.js';
import { Arena, BlockTable, Scales, TextStore } from './memory.js';

/** How the kernel decodes the 8 bytes of a value. `Scales` adds the flags of a scaled value. */
export const OPCODE = {
  u64: OPCODE_U64,
  i64: OPCODE_I64,
  f64: OPCODE_F64,
  bool: OPCODE_BOOL,
  wrap32: OPCODE_WRAP32,
} as const;
export type Opcode = (typeof OPCODE)[keyof typeof OPCODE];

/** The kernel copies 16 bytes at a time. It may read and overwrite this many bytes after the end of a text. */
export const PADDING_BYTES = 16;

const WASM_PAGE = 65_536;
const INITIAL_PAGES = 16;
const MAX_PAGES = 65_536;

let compiled: WebAssembly.Module | undefined;

/** The compiled kernel. The first call loads it, unless another thread has shared it. */
export const kernelCode = (): WebAssembly.Module =>
  (compiled ??= new WebAssembly.Module(readFileSync(new URL('kernel.wasm', import.meta.url))));

/** Makes this thread use the code that another thread loaded: an upgrade may have replaced the file since then. */
export function shareKernelCode(code: WebAssembly.Module): void {
  compiled = code;
}

/**
 * Reserves memory. The memory is shared for two reasons: buffers stay valid when it grows, and sockets can send from
 * it while a worker renders.
 */
function reserve(maximum: number): WebAssembly.Memory {
  try {
    return new WebAssembly.Memory({ initial: INITIAL_PAGES, maximum, shared: true });
  } catch (cause) {
    throw new Fault(
      'NATIVE_FAILED',
      'Cannot reserve 10 GiB of address space for a partition (only the used part takes memory): ' +
        `raise ulimit -v (LimitAS= of the unit), or lower target_workers (${messageOf(cause)})`,
      { cause },
    );
  }
}

/** The functions of assembly/index.ts. A block is passed as the address of its header. */
interface KernelExports {
  markDirty(cell: number): void;
  insert(
    block: number,
    index: number,
    entry: number,
    lineId: number,
    nodeId: number,
    seriesIndex: number,
    hash: number,
    name: number,
    labels: number,
    cell: number,
    opcode: number,
  ): number;
  relink(cell: number, lineId: number, newId: number): void;
  sort(block: number, oldNumber: number, newNumber: number, from: number, to: number): void;
  storeChanged(cells: number, values: number, words: number, count: number, out: number): number;
  copy(to: number, from: number, bytes: number): void;
  hasNegativeOrNaN(block: number, nameBytes: number): number;
  render(block: number, from: number, bytes: number, to: number): number;
  writesAll(block: number): number;
  prepareRecords(block: number): void;
  bestLineDistance(block: number, code: number, to: number): number;
  countSymbols(block: number, code: number, to: number): void;
  deflateAll(block: number, code: number, to: number): number;
  deflateChanged(block: number, code: number, from: number, to: number): number;
  writeValues(block: number, buffer: number, firstLine: number, code: number): number;
  deflateMessages(buffer: number, lineDistance: number, code: number, to: number): number;
  messagesWritten(block: number): void;
  writeValue(bits: bigint, opcode: number, at: number): number;
}

/** A kernel instance. Its memory holds the copied values, blocks and texts of one partition. */
export class Kernel {
  readonly run: KernelExports;
  readonly arena: Arena;
  readonly scales: Scales;
  readonly blocks: BlockTable;
  readonly texts: TextStore;
  readonly #memory: WebAssembly.Memory;
  readonly #maxPages: number;
  /** Views of the whole memory at its current size. Do not keep them across an allocation. */
  bytes: Uint8Array;
  u32: Uint32Array;
  u64: BigUint64Array;
  f64: Float64Array;

  /**
   * @param maxPages the maximum size of the memory, in WebAssembly pages of 64 KiB
   * @throws Fault NATIVE_FAILED when the system reserves no more address space
   */
  constructor(maxPages = MAX_PAGES) {
    this.#maxPages = maxPages;
    this.#memory = reserve(maxPages);
    new Uint8Array(this.#memory.buffer).set((cachedPowers ??= powersOfTen()), POWERS_AT);
    const instance = new WebAssembly.Instance(kernelCode(), { env: { memory: this.#memory } });
    this.run = instance.exports as unknown as KernelExports;
    this.bytes = new Uint8Array(this.#memory.buffer);
    this.u32 = new Uint32Array(this.#memory.buffer);
    this.u64 = new BigUint64Array(this.#memory.buffer);
    this.f64 = new Float64Array(this.#memory.buffer);
    // Leave room at the end: reads of 16 bytes at a time may pass the end of the last allocation.
    const end = INITIAL_PAGES * WASM_PAGE - PADDING_BYTES;
    this.arena = new Arena(FREE_AT, end, (bytes) => this.#grow(bytes));
    this.scales = new Scales(this);
    this.blocks = new BlockTable(this);
    this.texts = new TextStore(this);
  }

  /** Copies the CRC tables into the memory, once. */
  installCrcTables(tables: Uint32Array): void {
    if (this.u32[CRC_TABLES_POINTER >>> 2] !== 0) return;
    const at = this.arena.allocate(tables.byteLength);
    this.u32.set(tables, at >>> 2);
    this.u32[CRC_TABLES_POINTER >>> 2] = at;
  }

  /** A view of the memory that stays valid when the memory grows. */
  view(at: number, bytes: number): Buffer {
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
    this.bytes = new Uint8Array(this.#memory.buffer);
    this.u32 = new Uint32Array(this.#memory.buffer);
    this.u64 = new BigUint64Array(this.#memory.buffer);
    this.f64 = new Float64Array(this.#memory.buffer);
    return step * WASM_PAGE;
  }
}

/** 10^k as 128 bits, rounded up, scaled so that the highest bit is set (Giulietti 2020, 9.7). */
function powerOfTen(k: number): bigint {
  const shift = 127 - Math.floor((k * 1741647) / 2 ** 19);
  const ceiling = (n: bigint, d: bigint) => (n + d - 1n) / d;
  const scale = (n: bigint, d: bigint) =>
    shift >= 0 ? ceiling(n << BigInt(shift), d) : ceiling(n, d << BigInt(-shift));
  return k >= 0 ? scale(10n ** BigInt(k), 1n) : scale(1n, 10n ** BigInt(-k));
}

let cachedPowers: Uint8Array | undefined;

/** The table of powers of ten at `POWERS_AT`. */
function powersOfTen(): Uint8Array {
  const view = new DataView(new ArrayBuffer(FREE_AT));
  for (let k = LOWEST_EXPONENT; k <= HIGHEST_EXPONENT; k++) {
    const entry = POWERS_AT + POWER_BYTES * (k - LOWEST_EXPONENT);
    const g = powerOfTen(k);
    view.setBigUint64(entry, g >> 64n, true);
    view.setBigUint64(entry + 8, g & 0xffffffffffffffffn, true);
  }
  return new Uint8Array(view.buffer, POWERS_AT);
}
