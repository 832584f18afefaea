// The lines of a block as a part of a deflate stream, made without their text.
import { SYMBOLS } from './deflate-code.js';
import type { DeflateCode } from './deflate-code.js';
import { streamRoom } from './deflater.js';
import type { Deflater } from './deflater.js';
import type { Kernel } from '../wasm/kernel.js';
import { GROUP_BITS, RECORD_BYTES, SUM_BYTES } from '../wasm/layout.js';
import type { LineTable } from '../wasm/line-table.js';
import type { Scratch } from '../wasm/memory.js';
import { TextPiece } from '../text/text-piece.js';

const GROUP_LINES = 1 << GROUP_BITS;
/** Where a block's header says where that is, in 4-byte units. */
const HEADER = { records: 5, period: 6, groups: 7, sums: 9 } as const;

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
  /** The number of lines when it was chosen how many lines before it a line refers to. */
  #countThen = 0;
  #last: DeflatedPiece | undefined;
  /** The code of the last piece; undefined where there is none, or other lines came or went. */
  #code: DeflateCode | undefined;

  constructor(kernel: Kernel, table: LineTable) {
    this.#kernel = kernel;
    this.#table = table;
  }

  /** What was made last. */
  get last(): DeflatedPiece | undefined {
    return this.#last;
  }

  /** Lines came or went in the table, or were not written to their end. */
  reshaped(): void {
    this.#isReshaped = true;
    this.#code = undefined;
  }

  /** Whether the last piece has the current values. */
  isFresh({ code }: Deflater): boolean {
    return this.#code === code && !this.#table.isStreamStale;
  }

  /** Writes the lines with their current values. */
  write(deflater: Deflater, room: Scratch): void {
    const { code, table } = deflater;
    const last = this.#code === code ? this.#last : undefined;
    if (this.#isReshaped) this.#prepareRecords(deflater);
    const to = room.of(streamRoom(this.#table.roomNeeded));
    // The kernel updates the records as it writes. They are of no use unless the piece is kept as well.
    this.reshaped();
    const { address } = this.#table;
    const { run, written } = this.#kernel;
    const bits =
      last === undefined
        ? run.deflateAll(address, table, to)
        : run.deflateChanged(address, table, last.piece.address, to);
    const [crc = 0, bytes = 0] = written;
    // Words are read beyond the last bit.
    const length = code.blockBytes(bits);
    const piece = this.#pieceFor(length + 16);
    this.#kernel.bytes.copyWithin(piece.address, to, to + length);
    piece.length = length;
    this.#last = { piece, bits, crc, bytes };
    this.#code = code;
    this.#isReshaped = false;
  }

  /** A piece for the next bits: in the memory of the last ones, if that is about as large and nobody holds them. */
  #pieceFor(bytes: number): TextPiece {
    const last = this.#last?.piece;
    if (last?.isHeld === false && last.capacity >= bytes && last.capacity <= 2 * bytes)
      return last.succeed();
    const piece = TextPiece.of(this.#kernel, bytes);
    last?.release();
    return piece;
  }

  /** Adds what symbols the lines take to `counts`. The next render writes all of them. */
  countSymbols(deflater: Deflater, counts: number[]): void {
    if (this.#isReshaped) this.#prepareRecords(deflater);
    const to = deflater.roomFor(SYMBOLS * 4);
    const at = to >>> 2;
    this.#kernel.u32.fill(0, at, at + SYMBOLS);
    this.#kernel.run.countSymbols(this.#table.address, deflater.table, to);
    this.#code = undefined;
    const { u32 } = this.#kernel;
    for (let i = 0; i < SYMBOLS; i++) counts[i] = (counts[i] ?? 0) + (u32[at + i] ?? 0);
  }

  close(): void {
    this.#last?.piece.release();
    this.#last = undefined;
    this.#code = undefined;
    this.#giveRecords();
  }

  /** Lines came or went: makes their records, and finds the period that suits them best. */
  #prepareRecords(deflater: Deflater): void {
    const { run } = this.#kernel;
    const { address, count, roomNeeded } = this.#table;
    this.#takeRecords();
    run.prepareRecords(address);
    if (Math.abs(count - this.#countThen) > count * GROWTH) {
      // There may be no memory for it: then all of this is done again.
      const room = deflater.roomFor(roomNeeded);
      this.#header(HEADER.period, run.bestPeriod(address, deflater.table, room));
      this.#countThen = count;
    }
    this.#isReshaped = false;
  }

  /** Records for all entries that the table has room for. */
  #takeRecords(): void {
    const { capacity } = this.#table;
    if (capacity !== this.#capacity) {
      // First, since there may be no memory for it.
      const records = this.#kernel.arena.allocate(roomOf(capacity));
      this.#giveRecords();
      this.#capacity = capacity;
      this.#records = records;
    }
    this.#header(HEADER.records, this.#records);
    const sums = this.#records + this.#capacity * RECORD_BYTES;
    this.#header(HEADER.sums, sums);
    this.#header(HEADER.groups, sums + this.#capacity * SUM_BYTES);
  }

  #giveRecords(): void {
    if (this.#capacity > 0) this.#kernel.arena.free(this.#records, roomOf(this.#capacity));
    this.#capacity = 0;
  }

  #header(field: number, value: number): void {
    this.#kernel.u32[(this.#table.address >>> 2) + field] = value;
  }
}

const roomOf = (lines: number): number =>
  lines * (RECORD_BYTES + SUM_BYTES) + Math.ceil(lines / GROUP_LINES) * SUM_BYTES;
