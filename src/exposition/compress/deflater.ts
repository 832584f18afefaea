// The Huffman code of one target's deflate streams, and the kernel memory that its blocks share while they write.
import { crcTables } from './crc.js';
import { CODE_BYTES, DeflateCode, SYMBOLS } from './deflate-code.js';
import type { CodeLengths } from './huffman.js';
import type { Kernel } from '../wasm/kernel.js';
import { Scratch } from '../wasm/memory.js';

/** Lines whose blocks are counted to check the code. */
const LINES_A_CHECK = 8;
/** The code is checked after that many renders, and when the number of lines changes by that part. */
const RENDERS_A_CHECK = 256;
const GROWTH = 0.25;
/** A code that takes so many times the bits of another gives way to it. */
const CLEARLY_WORSE = 1.02;

/** Lines in a block, on average, from which on a page is compressed line by line. */
const MANY_LINES = 256;

/**
 * Whether lines compress themselves, which keeps what did not change. A line refers to its own block only. Where
 * families are short, zlib makes the page a third smaller, since it finds the same labels in the family before.
 */
export const compressesByLine = ({ lines, blocks }: { lines: number; blocks: number }): boolean =>
  lines >= MANY_LINES * blocks;

/** The lengths of that many symbols, all of them of that many bits. */
const alike = (symbols: number, bits: number): CodeLengths =>
  Array.from({ length: symbols }, () => bits);

/** Before anything is known of the lines: lengths that differ as little as those of a complete code can. */
const GUESS = [...alike(226, 8), ...alike(60, 9), ...alike(2, 4), ...alike(28, 5)];

/** Adds the symbols of the block of each `every`-th line to `counts`, a block a step. */
export type CountingSymbols = (counts: number[], every: number) => Generator<void, void>;

export class Deflater {
  readonly #kernel: Kernel;
  readonly #room: Scratch;
  /** The present code: a property of its own, since each block asks for it. */
  code = new DeflateCode(GUESS);
  /** The address of its table. */
  readonly table: number;
  #rendersToCheck = 0;
  #linesChecked = 0;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.#room = new Scratch(kernel);
    kernel.installCrcTables(crcTables());
    this.table = kernel.arena.allocate(CODE_BYTES);
    this.#use(this.code);
  }

  /**
   * Takes a code that fits, in small steps, before a render of that many lines. All that was written with
   * another code must be written anew.
   */
  *fitting(lines: number, counting: CountingSymbols): Generator<void, void> {
    const isGrown = Math.abs(lines - this.#linesChecked) > this.#linesChecked * GROWTH;
    if (--this.#rendersToCheck > 0 && !isGrown) return;
    this.#rendersToCheck = RENDERS_A_CHECK;
    this.#linesChecked = lines;
    const counts = Array.from({ length: SYMBOLS }, () => 0);
    yield* counting(counts, Math.ceil(lines / LINES_A_CHECK));
    const best = DeflateCode.of(counts);
    if (this.code.cost(counts) > best.cost(counts) * CLEARLY_WORSE) this.#use(best);
  }

  /** Room for the most bytes that lines of so much text can take, until the next call. */
  roomFor(textBytes: number): number {
    return this.#room.of(streamRoom(textBytes));
  }

  close(): void {
    this.#room.close();
    this.#kernel.arena.free(this.table, CODE_BYTES);
  }

  #use(code: DeflateCode): void {
    this.code = code;
    this.#kernel.bytes.set(code.table, this.table);
  }
}

/** A literal takes 15 bits at most; with the head of the code, and the last write goes over the end. */
export const streamRoom = (textBytes: number): number => textBytes * 2 + CODE_BYTES;
