// What the streams of one target share in the kernel: the code, and room to write.
import { crcTables } from '../deflate/crc.js';
import { CODE_BYTES, DeflateCode, SYMBOLS } from '../deflate/deflate-code.js';
import type { Kernel } from './kernel.js';
import { Scratch } from './scratch.js';

/** What a stream of lines holds before anything is known of them: digits, mostly. */
const GUESS = Array.from({ length: SYMBOLS }, (_, symbol) => (symbol < 0x80 ? 8 : 1));

/** The code is checked after that many renders, and when the number of lines changes by that part. */
const RENDERS_A_CHECK = 256;
const GROWTH = 0.25;
/** Lines whose blocks are counted for that. */
const LINES_A_CHECK = 16;
/** A code that takes so many times the bits of another gives way to it. */
const CLEARLY_WORSE = 1.02;

/** Adds the symbols of the block of each `every`-th line to `counts`. */
export type CountSymbols = (counts: number[], every: number) => void;

export class Deflater {
  readonly #kernel: Kernel;
  readonly #room: Scratch;
  readonly #table: number;
  #code = DeflateCode.of(GUESS);
  #rendersToCheck = 0;
  /** Number of lines when the code was checked last. */
  #linesChecked = 0;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.#room = new Scratch(kernel);
    kernel.installCrcTables(crcTables());
    this.#table = kernel.arena.take(CODE_BYTES);
    this.#use(this.#code);
  }

  get code(): DeflateCode {
    return this.#code;
  }
  /** The address of the code's table. */
  get table(): number {
    return this.#table;
  }

  /**
   * Call it before a render of that many lines: takes the best code for some of them, if it is
   * clearly better than the present one. All that was written with another must be written anew.
   */
  fit(lines: number, count: CountSymbols): void {
    const isGrown = Math.abs(lines - this.#linesChecked) > this.#linesChecked * GROWTH;
    if (--this.#rendersToCheck > 0 && !isGrown) return;
    this.#rendersToCheck = RENDERS_A_CHECK;
    this.#linesChecked = lines;
    const counts = Array.from({ length: SYMBOLS }, () => 0);
    count(counts, Math.ceil(lines / LINES_A_CHECK));
    const best = DeflateCode.of(counts);
    if (this.#code.cost(counts) > best.cost(counts) * CLEARLY_WORSE) this.#use(best);
  }

  /** Room for the most bytes that lines of so much text can take, until the next call. */
  roomFor(textBytes: number): number {
    // A literal takes 15 bits at most; with the head of the code, and the last write goes over the end.
    return this.#room.of(textBytes * 2 + CODE_BYTES);
  }

  close(): void {
    this.#room.close();
    this.#kernel.arena.give(this.#table, CODE_BYTES);
  }

  #use(code: DeflateCode): void {
    this.#code = code;
    this.#kernel.bytes.set(code.table(), this.#table);
  }
}
