// Keeps the Huffman code of one target's deflate streams, and the kernel memory that its blocks share while they write.
import { crcTables } from './crc.js';
import { CODE_BYTES, DeflateCode, SYMBOLS } from './deflate-code.js';
import type { CodeLengths } from './huffman.js';
import type { Kernel } from '../wasm/kernel.js';
import { Scratch } from '../wasm/memory.js';

/** Blocks are counted to check the code: those of so many lines, which are spread evenly. */
const LINES_A_CHECK = 8;
/** The code is checked after so many renders, and when the number of lines has changed by this share. */
const RENDERS_A_CHECK = 256;
const MAX_GROWTH = 0.25;
/** The code is replaced if its streams have so many times the bits of those of the best code. */
const MAX_COST_RATIO = 1.02;

/** The least average number of lines in a block for a page to be compressed line by line. */
const MIN_LINES_PER_BLOCK = 256;

/**
 * Whether the kernel compresses lines, which keeps the streams of unchanged lines. A line refers to lines of its own
 * block only. If families are short, zlib makes the page a third smaller, since it finds the same labels in the family
 * before.
 */
export const usesKernelDeflate = ({ lines, blocks }: { lines: number; blocks: number }): boolean =>
  lines >= MIN_LINES_PER_BLOCK * blocks;

const repeated = (symbols: number, bits: number): CodeLengths =>
  Array.from({ length: symbols }, () => bits);

/** The first code, before any symbol is counted: its lengths differ as little as those of a complete code can. */
const INITIAL_LENGTHS = [
  ...repeated(226, 8),
  ...repeated(60, 9),
  ...repeated(2, 4),
  ...repeated(28, 5),
];

/** Adds the symbols of the block of each `every`-th line to `counts`, a block a step. */
export type CountSymbols = (counts: number[], every: number) => Generator<void, void>;

export class Deflater {
  readonly #kernel: Kernel;
  readonly #scratch: Scratch;
  /** The present code. It is a field, since each block reads it. */
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
   * Checks the code before a render of that many lines, and replaces it if another one is clearly better, in small
   * steps. Streams of the former code must be written again.
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
   * The address of room for the stream of lines with so much text. It stays valid until the next call. A literal has 15
   * bits at most. The room for the head of the code also takes the last write, which goes beyond the end.
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
