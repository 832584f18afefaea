// What the streams of one target share in the kernel: the code, and room to write.
import { crcTables } from '../deflate/crc.js';
import { CODE_BYTES, DeflateCode, SYMBOLS } from '../deflate/deflate-code.js';
import type { Kernel } from './kernel.js';
import { Scratch } from './scratch.js';

/** What a stream of lines holds before anything is known of them: digits, mostly. */
const GUESS = Array.from({ length: SYMBOLS }, (_, symbol) => (symbol < 0x80 ? 8 : 1));

export class Deflater {
  readonly #kernel: Kernel;
  readonly #room: Scratch;
  readonly #table: number;
  #code = DeflateCode.of(GUESS);

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.#room = new Scratch(kernel);
    kernel.installCrcTables(crcTables());
    this.#table = kernel.arena.take(CODE_BYTES);
    this.use(this.#code);
  }

  get code(): DeflateCode {
    return this.#code;
  }
  /** The address of the code's table. */
  get table(): number {
    return this.#table;
  }

  /** Uses a code from now on: all that was written with another must be written anew. */
  use(code: DeflateCode): void {
    this.#code = code;
    this.#kernel.bytes.set(code.table(), this.#table);
  }

  /** Room for the most bytes that lines of so much text can take, until the next call. */
  roomFor(textBytes: number): number {
    // A literal takes 15 bits at most, and the last write goes over the end.
    return this.#room.of(textBytes * 2 + 64);
  }

  close(): void {
    this.#room.close();
    this.#kernel.arena.give(this.#table, CODE_BYTES);
  }
}
