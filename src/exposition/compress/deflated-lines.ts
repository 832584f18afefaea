// Compresses the lines of a block to a deflate block, without producing their text.
import { SYMBOLS } from './deflate-code.js';
import type { DeflateCode } from './deflate-code.js';
import type { DeflateContext } from './deflate-context.js';
import type { Kernel } from '../wasm/kernel.js';
import {
  BLOCK_GROUPS,
  BLOCK_LINE_DISTANCE,
  BLOCK_RECORDS,
  BLOCK_TOTALS,
  DEFLATE_TOTALS_SIZE,
  GROUP_BITS,
  RECORD_BYTES,
} from '../wasm/layout.js';
import { RenderBuffer } from '../text/text-snapshot.js';

const GROUP_LINES = 1 << GROUP_BITS;

/** The line distance (assembly/deflate.ts) is chosen again when the number of lines has changed by this share. */
const MAX_GROWTH = 0.25;

/** A deflate block in the kernel's memory, and the CRC and size of its text. */
export interface DeflateBuffer {
  readonly buffer: RenderBuffer;
  /** Raw CRC and length of the text. */
  readonly crc: number;
  readonly bytes: number;
}

/** The lines of a block in the kernel's memory. */
interface BlockLines {
  /** The address of the header. */
  readonly address: number;
  readonly count: number;
  /** The number of lines that the block has memory for. */
  readonly capacity: number;
  /** The maximum number of bytes that the lines may take as text. */
  readonly maxBytes: number;
  readonly isDeflateDirty: boolean;
}

export class DeflatedLines {
  readonly #kernel: Kernel;
  readonly #block: BlockLines;
  #records = 0;
  #capacity = 0;
  /** Whether lines were added or removed since the kernel's records of the lines were prepared. */
  #haveLinesChanged = true;
  /** The number of lines when the line distance was chosen. */
  #countAtChoice = 0;
  #last: DeflateBuffer | undefined;
  /** The Huffman code of the last block; undefined before the first block, and after lines were added or removed. */
  #code: DeflateCode | undefined;

  constructor(kernel: Kernel, block: BlockLines) {
    this.#kernel = kernel;
    this.#block = block;
  }

  get last(): DeflateBuffer | undefined {
    return this.#last;
  }

  /** Call it after lines were added or removed, or after a failed write. */
  invalidate(): void {
    this.#haveLinesChanged = true;
    this.#code = undefined;
  }

  /** Whether the last deflate block has the current code and the current values. */
  isCurrent({ code }: DeflateContext): boolean {
    return this.#code === code && !this.#block.isDeflateDirty;
  }

  /** Writes a deflate block of the lines, with their current values. */
  write(context: DeflateContext): void {
    const { code, table } = context;
    const last = this.#code === code ? this.#last : undefined;
    if (this.#haveLinesChanged) this.#prepareRecords(context);
    const to = context.scratchFor(this.#block.maxBytes);
    // The kernel updates the records as it writes, so they are valid only if the whole write succeeds.
    this.invalidate();
    const { address } = this.#block;
    const { run, deflateResult } = this.#kernel;
    const bits =
      last === undefined
        ? run.deflateAll(address, table, to)
        : run.deflateChanged(address, table, last.buffer.address, to);
    const [crc = 0, bytes = 0] = deflateResult;
    // The buffer needs some bytes more: when the kernel copies bits from it, it reads whole words, beyond the last
    // bit.
    const length = code.blockBytes(bits);
    const buffer = new RenderBuffer(this.#kernel, length + 16);
    buffer.data = buffer.data.subarray(0, length);
    this.#kernel.bytes.copyWithin(buffer.address, to, to + length);
    this.#last?.buffer.release();
    this.#last = { buffer, crc, bytes };
    this.#code = code;
    this.#haveLinesChanged = false;
  }

  /**
   * Counts the symbols of the lines, and adds them to `counts`. This changes the records, so the next render writes all
   * lines.
   */
  countSymbols(context: DeflateContext, counts: number[]): void {
    if (this.#haveLinesChanged) this.#prepareRecords(context);
    const to = context.scratchFor(SYMBOLS * 4);
    const at = to >>> 2;
    this.#kernel.u32.fill(0, at, at + SYMBOLS);
    this.#kernel.run.countSymbols(this.#block.address, context.table, to);
    this.#code = undefined;
    const { u32 } = this.#kernel;
    for (let i = 0; i < SYMBOLS; i++) counts[i] = (counts[i] ?? 0) + (u32[at + i] ?? 0);
  }

  close(): void {
    this.#last?.buffer.release();
    this.#last = undefined;
    this.#code = undefined;
    this.#freeRecords();
  }

  /** Prepares the records of all lines, and chooses the line distance again if the number of lines has changed much. */
  #prepareRecords(context: DeflateContext): void {
    const { run } = this.#kernel;
    const { address, count, maxBytes } = this.#block;
    this.#allocateRecords();
    run.prepareRecords(address);
    if (Math.abs(count - this.#countAtChoice) > count * MAX_GROWTH) {
      // If the allocation fails, the next render prepares the records again.
      const scratch = context.scratchFor(maxBytes);
      this.#setHeader(BLOCK_LINE_DISTANCE, run.bestLineDistance(address, context.table, scratch));
      this.#countAtChoice = count;
    }
    this.#haveLinesChanged = false;
  }

  /** Allocates a record for each line that the block has room for. */
  #allocateRecords(): void {
    const { capacity } = this.#block;
    if (capacity !== this.#capacity) {
      // Allocate first. Allocation can fail, and no state may change before it succeeds.
      const records = this.#kernel.arena.allocate(recordBytes(capacity));
      this.#freeRecords();
      this.#capacity = capacity;
      this.#records = records;
    }
    this.#setHeader(BLOCK_RECORDS, this.#records);
    const totals = this.#records + this.#capacity * RECORD_BYTES;
    this.#setHeader(BLOCK_TOTALS, totals);
    this.#setHeader(BLOCK_GROUPS, totals + this.#capacity * DEFLATE_TOTALS_SIZE);
  }

  #freeRecords(): void {
    if (this.#capacity > 0) this.#kernel.arena.free(this.#records, recordBytes(this.#capacity));
    this.#capacity = 0;
  }

  #setHeader(field: number, value: number): void {
    this.#kernel.u32[(this.#block.address + field) >>> 2] = value;
  }
}

const recordBytes = (lines: number): number =>
  lines * (RECORD_BYTES + DEFLATE_TOTALS_SIZE) +
  Math.ceil(lines / GROUP_LINES) * DEFLATE_TOTALS_SIZE;
