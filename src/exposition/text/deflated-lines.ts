// The lines of a block as a part of a deflate stream, made without their text.
import { SYMBOLS } from '../deflate/deflate-code.js';
import type { DeflateCode } from '../deflate/deflate-code.js';
import type { Deflater } from '../kernel/deflater.js';
import type { Kernel } from '../kernel/kernel.js';
import { LINE_BYTES } from '../kernel/line-table.js';
import type { LineTable } from '../kernel/line-table.js';
import { TextPiece } from './text-piece.js';

/** A record of the kernel beside each line: assembly/deflate.ts. */
const RECORD_BYTES = 24;

/** The period is chosen again when the number of lines has changed by that part. */
const GROWTH = 0.25;

/** Bits of a stream, and what they unpack to. */
export interface DeflatedPiece {
  readonly piece: TextPiece;
  readonly bits: number;
  /** Inner CRC and number of bytes of the text. */
  readonly crc: number;
  readonly bytes: number;
}

export class DeflatedLines {
  readonly #kernel: Kernel;
  readonly #table: LineTable;
  #records = 0;
  #capacity = 0;
  /** Whether lines came or went since their records were made. */
  #isReshaped = true;
  /** How many lines before it a line refers to, and the number of lines when that was chosen. */
  #period = 1;
  #countThen = 0;
  #last: DeflatedPiece | undefined;
  #code: DeflateCode | undefined;

  constructor(kernel: Kernel, table: LineTable) {
    this.#kernel = kernel;
    this.#table = table;
  }

  /** Lines came or went in the table. */
  reshaped(): void {
    this.#isReshaped = true;
  }

  /** The lines with their current values; the same piece while nothing changed. */
  render(deflater: Deflater): DeflatedPiece {
    const { run } = this.#kernel;
    const { count, roomNeeded } = this.#table;
    const isNew = this.#isReshaped || this.#code !== deflater.code;
    const last = this.#last;
    if (
      last !== undefined &&
      !isNew &&
      run.isStale(this.#table.address, this.#records, count) === 0
    )
      return last;
    this.#prepare(deflater);
    const to = deflater.roomFor(roomNeeded);
    if (last !== undefined) this.#kernel.written = last;
    const bits =
      last === undefined || isNew
        ? run.deflateAll(...this.#lines, deflater.table, to)
        : run.deflateChanged(...this.#lines, deflater.table, last.piece.address, to);
    // Words are read beyond the last bit.
    const length = Math.ceil(bits / 8);
    const piece = new TextPiece(this.#kernel, length + 16);
    this.#kernel.bytes.copyWithin(piece.address, to, to + length);
    piece.length = length;
    last?.piece.release();
    this.#code = deflater.code;
    this.#last = { piece, bits, ...this.#kernel.written };
    return this.#last;
  }

  /** Adds what symbols the lines take to `counts`. The next render writes all of them. */
  countSymbols(deflater: Deflater, counts: number[]): void {
    this.#prepare(deflater);
    const to = deflater.roomFor(SYMBOLS * 4);
    const at = to >>> 2;
    this.#kernel.u32.fill(0, at, at + SYMBOLS);
    this.#kernel.run.countSymbols(...this.#lines, deflater.table, to);
    this.#code = undefined;
    const { u32 } = this.#kernel;
    for (let i = 0; i < SYMBOLS; i++) counts[i] = (counts[i] ?? 0) + (u32[at + i] ?? 0);
  }

  close(): void {
    this.#last?.piece.release();
    this.#last = undefined;
    if (this.#capacity > 0) this.#kernel.arena.give(this.#records, this.#capacity * RECORD_BYTES);
    this.#capacity = 0;
  }

  get #lines(): [table: number, records: number, count: number, period: number] {
    return [this.#table.address, this.#records, this.#table.count, this.#period];
  }

  /** If lines came or went: makes their records, and finds the period that suits them best. */
  #prepare(deflater: Deflater): void {
    if (!this.#isReshaped) return;
    this.#isReshaped = false;
    const { arena, run } = this.#kernel;
    const { count, roomNeeded } = this.#table;
    if (count > this.#capacity) {
      if (this.#capacity > 0) arena.give(this.#records, this.#capacity * RECORD_BYTES);
      this.#capacity = this.#table.capacity;
      this.#records = arena.take(this.#capacity * RECORD_BYTES);
    }
    const { address } = this.#table;
    for (let i = 0; i < count; i++)
      run.prepareRecord(address + i * LINE_BYTES, this.#records + i * RECORD_BYTES);
    if (Math.abs(count - this.#countThen) <= count * GROWTH) return;
    this.#countThen = count;
    const to = deflater.roomFor(roomNeeded);
    this.#period = run.bestPeriod(address, count, deflater.table, to);
  }
}
