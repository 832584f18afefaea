// The Huffman code of the deflate blocks of one target, and the scratch memory that its blocks share.
import { crcTables } from './crc.js';
import { CODE_BYTES, DeflateCode, SYMBOLS } from './deflate-code.js';
import type { CodeLengths } from './huffman.js';
import type { Kernel } from '../wasm/kernel.js';
import { Scratch } from '../wasm/memory.js';

/** A check of the code counts the symbols of the blocks that contain this many evenly spaced lines. */
const LINES_A_CHECK = 8;
/** The code is checked after this many renders, and when the number of lines has changed by this share. */
const RENDERS_A_CHECK = 256;
const MAX_GROWTH = 0.25;
/** The code is replaced if its symbols have this many times the bits of the optimal code. */
const MAX_COST_RATIO = 1.02;

/** The minimum average number of lines in a block for compression by the kernel. */
const MIN_LINES_PER_BLOCK = 256;

/**
 * Whether the kernel compresses the lines instead of zlib. The kernel keeps the bits of unchanged lines, but finds
 * matches only in the same block. With short families, zlib makes pages a third smaller, since it finds matches in
 * other families.
 */
export const usesKernelDeflate = ({ lines, blocks }: { lines: number; blocks: number }): boolean =>
  lines >= MIN_LINES_PER_BLOCK * blocks;

const repeat = (symbols: number, bits: number): CodeLengths =>
  Array.from({ length: symbols }, () => bits);

/** The code before any symbol is counted. It is the complete code with the smallest differences between lengths. */
const INITIAL_LENGTHS = [...repeat(226, 8), ...repeat(60, 9), ...repeat(2, 4), ...repeat(28, 5)];

/** Counts the symbols of each block with an `every`-th line, and adds them to `counts`, a block a step. */
export type CountSymbols = (counts: number[], every: number) => Generator<void, void>;

export class DeflateContext {
  readonly #kernel: Kernel;
  readonly #scratch: Scratch;
  /** The current code. */
  code = new DeflateCode(INITIAL_LENGTHS);
  /** The address of its table. */
  readonly table: number;
  #rendersToCheck = 0;
  #linesChecked = 0;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.#scratch = new Scratch(kernel);
    kernel.installCrcTables(crcTables());
    this.table = kernel.arena.allocate(CODE_BYTES);
    this.#setCode(this.code);
  }

  /**
   * Checks the Huffman code before a render of `lines` lines, in small steps, and replaces it if another one is clearly
   * better. Blocks with the former code must then be written again.
   */
  *updatingCode(lines: number, countSymbols: CountSymbols): Generator<void, void> {
    const isGrown = Math.abs(lines - this.#linesChecked) > this.#linesChecked * MAX_GROWTH;
    if (--this.#rendersToCheck > 0 && !isGrown) return;
    this.#rendersToCheck = RENDERS_A_CHECK;
    this.#linesChecked = lines;
    const counts = Array.from({ length: SYMBOLS }, () => 0);
    yield* countSymbols(counts, Math.ceil(lines / LINES_A_CHECK));
    const best = DeflateCode.of(counts);
    if (this.code.cost(counts) > best.cost(counts) * MAX_COST_RATIO) this.#setCode(best);
  }

  /**
   * The address of scratch memory for the deflate block of lines with this much text, valid until the next call. A
   * literal has at most 15 bits. `CODE_BYTES` is for the header, and for the last write, which passes the end.
   */
  scratchFor(textBytes: number): number {
    return this.#scratch.reserve(textBytes * 2 + CODE_BYTES);
  }

  close(): void {
    this.#scratch.close();
    this.#kernel.arena.free(this.table, CODE_BYTES);
  }

  #setCode(code: DeflateCode): void {
    this.code = code;
    this.#kernel.bytes.set(code.table, this.table);
  }
}
