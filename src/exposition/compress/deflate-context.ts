// The Huffman code of the deflate blocks of one target, and the scratch memory that its blocks share.
import { crcTables } from './crc.js';
import { DeflateCode, SYMBOLS } from './deflate-code.js';
import type { CodeLengths } from './huffman.js';
import type { Kernel } from '../wasm/kernel.js';
import { CODE_BYTES } from '../wasm/layout.js';
import { Scratch } from '../wasm/memory.js';

/**
 * To choose a code, this many evenly spaced lines are picked, and the symbols of the blocks that contain them are
 * counted.
 */
const LINES_A_CHOICE = 8;
/** The code is chosen again when the deflate blocks have grown by this share. */
const MAX_GROWTH = 0.1;

/** The kernel compresses lines only if blocks have at least this many lines on average. */
const MIN_LINES_PER_BLOCK = 256;

/**
 * Whether the kernel, not zlib, compresses the lines. The kernel keeps the bits of unchanged lines, but finds matches
 * only in the same block. With short families, zlib makes pages a third smaller, since it finds matches in other
 * families.
 */
export const usesKernelDeflate = ({ lines, blocks }: { lines: number; blocks: number }): boolean =>
  lines >= MIN_LINES_PER_BLOCK * blocks;

const repeat = (symbols: number, bits: number): CodeLengths =>
  Array.from({ length: symbols }, () => bits);

/**
 * The code lengths that are used until symbols are counted. They form a complete code, and differ as little as
 * possible.
 */
const INITIAL_LENGTHS = [...repeat(226, 8), ...repeat(60, 9), ...repeat(2, 4), ...repeat(28, 5)];

/** Counts the symbols of each block that contains an `every`-th line, one block per step, and adds them to `counts`. */
export type CountSymbols = (counts: number[], every: number) => Generator<void, void>;

export class DeflateContext {
  readonly #kernel: Kernel;
  readonly #scratch: Scratch;
  /** The current code. */
  code = new DeflateCode(INITIAL_LENGTHS);
  /** The address of the code's table for the kernel. */
  readonly table: number;
  /** The size of all deflate blocks after the last render. */
  #bytes = 0;
  /** The size of all deflate blocks when the current code was chosen; undefined before the first render. */
  #bytesAtChoice: number | undefined;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.#scratch = new Scratch(kernel);
    kernel.installCrcTables(crcTables());
    this.table = kernel.arena.allocate(CODE_BYTES);
    this.#setCode(this.code);
  }

  /** Call it after each render, with the size of all deflate blocks. */
  rendered(bytes: number): void {
    this.#bytesAtChoice ??= bytes;
    this.#bytes = bytes;
  }

  /**
   * Call it before a render of `lines` lines. At the first render, and after growth, it chooses the Huffman code, in
   * small steps. All blocks must then be written again.
   */
  *updatingCode(lines: number, countSymbols: CountSymbols): Generator<void, void> {
    const last = this.#bytesAtChoice;
    if (last !== undefined && this.#bytes <= last * (1 + MAX_GROWTH)) return;
    const counts = Array.from({ length: SYMBOLS }, () => 0);
    yield* countSymbols(counts, Math.ceil(lines / LINES_A_CHOICE));
    this.#setCode(DeflateCode.of(counts));
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

  #setCode(code: DeflateCode): void {
    this.code = code;
    this.#kernel.bytes.set(code.table, this.table);
  }
}
