// Compresses the lines of a block to a deflate block, without producing their text.
import { crcTables } from './crc.js';
import { SYMBOLS, deflateTable } from './deflate-code.js';
import type { Kernel } from '../wasm/kernel.js';
import {
  BLOCK_DEFLATE_DIRTY,
  BLOCK_GROUPS,
  BLOCK_LINE_DISTANCE,
  BLOCK_RECORDS,
  BLOCK_TOTALS,
  CODE_BYTES,
  DEFLATE_RESULT_AT,
  DEFLATE_TOTALS_SIZE,
  GROUP_BITS,
  LINES_CHANGED,
  RECORD_BYTES,
} from '../wasm/layout.js';
import { Scratch } from '../wasm/memory.js';
import { RenderBuffer } from '../text/render-buffer.js';

/**
 * To choose a code, this many evenly spaced lines are picked, and the symbols of the blocks that contain them are
 * counted.
 */
const LINES_A_CHOICE = 8;
/** The code is chosen again when the deflate blocks have grown by this share. */
const MAX_GROWTH = 0.1;
/** A block chooses its line distance (assembly/deflate.ts) again when its number of lines has changed by this share. */
const MAX_LINE_GROWTH = 0.25;
const GROUP_LINES = 1 << GROUP_BITS;

/** The kernel compresses lines only if blocks have at least this many lines on average. */
const MIN_LINES_PER_BLOCK = 256;

/**
 * Whether the kernel, not zlib, compresses the lines. The kernel keeps the bits of unchanged lines, but finds matches
 * only in the same block. With short families, zlib makes pages a third smaller, since it finds matches in other
 * families.
 */
export const usesKernelDeflate = ({ lines, blocks }: { lines: number; blocks: number }): boolean =>
  lines >= MIN_LINES_PER_BLOCK * blocks;

/** The Huffman code of the deflate blocks of one target, and the scratch memory that its blocks share. */
export class DeflateContext {
  readonly #kernel: Kernel;
  readonly #scratch: Scratch;
  /** The address of the code's table for the kernel. */
  readonly table: number;
  /** Increases when another code is chosen. */
  codeNumber = 0;
  /** The size of all deflate blocks after the last render. */
  #bytes = 0;
  /** The size of all deflate blocks when the current code was chosen; undefined before the first render. */
  #bytesAtChoice: number | undefined;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.#scratch = new Scratch(kernel);
    kernel.installCrcTables(crcTables());
    this.table = kernel.arena.allocate(CODE_BYTES);
    this.#chooseCode(Array.from({ length: SYMBOLS }, () => 0));
  }

  /** Call it after each render, with the size of all deflate blocks. */
  rendered(bytes: number): void {
    this.#bytesAtChoice ??= bytes;
    this.#bytes = bytes;
  }

  /**
   * Chooses the Huffman code before the first render, and again after growth, one block per step. Call it before each
   * render. All blocks must be written again after a choice.
   * @param lines the lines of all blocks together
   */
  *updatingCode(
    lines: number,
    blocks: Iterable<{ readonly count: number; readonly deflated: DeflatedLines }>,
  ): Generator<void, void> {
    const last = this.#bytesAtChoice;
    if (last !== undefined && this.#bytes <= last * (1 + MAX_GROWTH)) return;
    const counts = Array.from({ length: SYMBOLS }, () => 0);
    const every = Math.ceil(lines / LINES_A_CHOICE);
    let skipped = every - 1;
    for (const { count, deflated } of blocks) {
      skipped += count;
      if (skipped < every) continue;
      skipped %= every;
      deflated.countSymbols(this, counts);
      yield;
    }
    this.#chooseCode(counts);
    // The next choice happens only when the blocks exceed their size before this choice, even if the new code makes
    // them smaller. This bounds the number of choices.
    if (last !== undefined) this.#bytesAtChoice = this.#bytes;
  }

  /**
   * Returns the address of scratch memory for the deflate block of `textBytes` bytes of text, valid until the next
   * call. A byte of text takes at most two bytes there, since a literal has at most 15 bits. `CODE_BYTES` more bytes
   * hold the header, and what the last write stores beyond the end of the block.
   */
  scratchFor(textBytes: number): number {
    return this.#scratch.reserve(textBytes * 2 + CODE_BYTES);
  }

  close(): void {
    this.#scratch.close();
    this.#kernel.arena.free(this.table, CODE_BYTES);
  }

  #chooseCode(counts: readonly number[]): void {
    this.#kernel.bytes.set(deflateTable(counts), this.table);
    this.codeNumber++;
  }
}

/** A deflate block in the kernel's memory, and the CRC and size of its text. */
export interface DeflateBuffer {
  readonly buffer: RenderBuffer;
  /** The content of the buffer. */
  readonly data: Uint8Array;
  /** The CRC-32 and the length of the text. */
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
  /** Sorts the entries into the order of the lines, in which the kernel reads them. */
  sort(): void;
}

export class DeflatedLines {
  readonly #kernel: Kernel;
  readonly #block: BlockLines;
  #records = 0;
  #capacity = 0;
  /** The number of lines when the line distance was chosen. */
  #countAtChoice = 0;
  #last: DeflateBuffer | undefined;
  /** The `codeNumber` of the last deflate block. */
  #codeNumber = 0;

  constructor(kernel: Kernel, block: BlockLines) {
    this.#kernel = kernel;
    this.#block = block;
  }

  /** Whether the last deflate block has the current code and the current values. */
  isCurrent({ codeNumber }: DeflateContext): boolean {
    return this.#codeNumber === codeNumber && this.#dirtyFlags === 0;
  }

  /** Returns the deflate block of the current values. Writes only changes; if that fails, the next call writes all. */
  current(context: DeflateContext): DeflateBuffer {
    return this.#last !== undefined && this.isCurrent(context) ? this.#last : this.#write(context);
  }

  #write(context: DeflateContext): DeflateBuffer {
    this.#block.sort();
    const { codeNumber, table } = context;
    const haveLinesChanged = (this.#dirtyFlags & LINES_CHANGED) !== 0;
    const last =
      haveLinesChanged || this.#codeNumber !== codeNumber ? undefined : this.#last?.buffer;
    if (haveLinesChanged) this.#prepareRecords(context);
    const to = context.scratchFor(this.#block.maxBytes);
    // The kernel updates the records as it writes, so they are valid only if the whole write succeeds.
    this.#setHeader(BLOCK_DEFLATE_DIRTY, LINES_CHANGED);
    const { address } = this.#block;
    const { run, u32 } = this.#kernel;
    const length =
      last === undefined
        ? run.deflateAll(address, table, to)
        : run.deflateChanged(address, table, last.address, to);
    const [crc = 0, bytes = 0] = u32.subarray(DEFLATE_RESULT_AT >>> 2);
    // The buffer needs some bytes more: when the kernel copies bits from it, it reads whole words, beyond the last
    // bit.
    const buffer = new RenderBuffer(this.#kernel, length + 16);
    run.copy(buffer.address, to, length);
    this.#last?.buffer.release();
    this.#last = { buffer, data: this.#kernel.view(buffer.address, length), crc, bytes };
    this.#codeNumber = codeNumber;
    this.#setHeader(BLOCK_DEFLATE_DIRTY, 0);
    return this.#last;
  }

  /**
   * Counts the symbols of the lines, and adds them to `counts`. This changes the records, so the next render writes all
   * lines.
   */
  countSymbols(context: DeflateContext, counts: number[]): void {
    this.#block.sort();
    this.#prepareRecords(context);
    const to = context.scratchFor(SYMBOLS * 4);
    const at = to >>> 2;
    this.#kernel.u32.fill(0, at, at + SYMBOLS);
    this.#setHeader(BLOCK_DEFLATE_DIRTY, LINES_CHANGED);
    this.#kernel.run.countSymbols(this.#block.address, context.table, to);
    const { u32 } = this.#kernel;
    for (let i = 0; i < SYMBOLS; i++) counts[i] = (counts[i] ?? 0) + (u32[at + i] ?? 0);
  }

  /** Frees the deflate block and the records. The next write writes everything again. */
  drop(): void {
    this.#setHeader(BLOCK_DEFLATE_DIRTY, LINES_CHANGED);
    this.close();
  }

  close(): void {
    this.#last?.buffer.release();
    this.#last = undefined;
    this.#freeRecords();
  }

  /** Prepares the records of all lines, and chooses the line distance again if the number of lines has changed much. */
  #prepareRecords(context: DeflateContext): void {
    const { run } = this.#kernel;
    const { address, count, maxBytes } = this.#block;
    this.#allocateRecords();
    run.prepareRecords(address);
    if (Math.abs(count - this.#countAtChoice) <= count * MAX_LINE_GROWTH) return;
    const scratch = context.scratchFor(maxBytes);
    this.#setHeader(BLOCK_LINE_DISTANCE, run.bestLineDistance(address, context.table, scratch));
    this.#countAtChoice = count;
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

  get #dirtyFlags(): number {
    return this.#kernel.u32[(this.#block.address + BLOCK_DEFLATE_DIRTY) >>> 2] ?? 0;
  }

  #setHeader(field: number, value: number): void {
    this.#kernel.u32[(this.#block.address + field) >>> 2] = value;
  }
}

const recordBytes = (lines: number): number =>
  lines * (RECORD_BYTES + DEFLATE_TOTALS_SIZE) +
  Math.ceil(lines / GROUP_LINES) * DEFLATE_TOTALS_SIZE;
