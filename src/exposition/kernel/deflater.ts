// What the streams of one target share in the kernel: the code, and room to write.
import { CODE_BYTES } from '../deflate/deflate-code.js';
import { CodeFit, noSymbols } from './code-fit.js';
import { CodeTable } from './code-table.js';
import type { Kernel } from './kernel.js';
import { Scratch } from './scratch.js';

/** Lines whose blocks are counted to check the code. */
const LINES_A_CHECK = 8;

/** Adds the symbols of the block of each `every`-th line to `counts`, a block a step. */
export type CountingSymbols = (counts: number[], every: number) => Generator<void, void>;

export class Deflater {
  readonly #room: Scratch;
  readonly #table: CodeTable;
  readonly #fit = new CodeFit();
  /** The present code: a property of its own, since each block asks for it. */
  code = this.#fit.code;
  /** The address of its table. */
  readonly table: number;

  constructor(kernel: Kernel) {
    this.#room = new Scratch(kernel);
    this.#table = new CodeTable(kernel);
    this.table = this.#table.address;
    this.#table.use(this.code);
  }

  /**
   * Takes a code that fits, in small steps, before a render of that many lines. All that was written with
   * another code must be written anew.
   */
  *fitting(lines: number, counting: CountingSymbols): Generator<void, void> {
    if (!this.#fit.isDue(lines)) return;
    const counts = noSymbols();
    yield* counting(counts, Math.ceil(lines / LINES_A_CHECK));
    this.#fit.fit(counts);
    this.code = this.#fit.code;
    this.#table.use(this.code);
  }

  /** Room for the most bytes that lines of so much text can take, until the next call. */
  roomFor(textBytes: number): number {
    return this.#room.of(streamRoom(textBytes));
  }

  close(): void {
    this.#room.close();
    this.#table.close();
  }
}

/** A literal takes 15 bits at most; with the head of the code, and the last write goes over the end. */
export const streamRoom = (textBytes: number): number => textBytes * 2 + CODE_BYTES;
