// Compresses the text of a page by what is known of it: much sooner than zlib, and mostly to less.
import { crc32 } from 'node:zlib';
import type { Deflated } from '../../model.js';
import { bytesOf, copyBytes } from '../../bytes.js';
import { wordsFor } from '../deflate/bit-writer.js';
import { SYMBOLS } from '../deflate/deflate-code.js';
import type { CodeFit } from './code-fit.js';
import { CodeTable } from './code-table.js';
import { streamRoom } from './deflater.js';
import { Kernel, OVERRUN } from './kernel.js';
import { Scratch } from './scratch.js';

/** A megabyte takes a millisecond: more would hold up others. Headers are searched, which takes longer. */
export const MAX_TEXT_BYTES = 2 ** 22;
const BYTES_A_HEADER = 3072;

/**
 * Memory for the longest text and the most that its stream may take, and as much again: what was taken for
 * shorter ones is not used for longer ones. Rooms are for powers of two, so that there are few.
 */
const MAX_PAGES = 1024;
const LEAST_TEXT_BYTES = 65_536;
/** What assembly/page-text.ts needs beside the text. */
const HASH_BYTES = 32_768;

type MemoryFor = (words: number) => Uint32Array;

export class TextDeflater {
  readonly #maxPages: number;
  /** Taken at the first text; undefined after that where the system has none. */
  #room: Room | undefined;
  #isMade = false;

  /** @param maxPages of 64 KiB that it may take */
  constructor(maxPages = MAX_PAGES) {
    this.#maxPages = maxPages;
  }

  /**
   * Whether it compresses a text like that: zlib compresses longer ones, and those for which there is no
   * memory here.
   */
  takes(bytes: number, families: number): boolean {
    const isShort = bytes + families * BYTES_A_HEADER <= MAX_TEXT_BYTES;
    return isShort && this.#made()?.reserve(bytes) === true;
  }

  /**
   * Makes a part of a deflate stream of the pieces of a text that it takes.
   * @param fit the code of former versions of the text
   * @param memoryFor gives memory of at least that many words, for the result
   */
  deflate(pieces: readonly Uint8Array[], fit: CodeFit, memoryFor: MemoryFor): Deflated {
    const room = this.#made();
    if (room === undefined) throw new RangeError('There is no memory for a text');
    return room.deflate(pieces, fit, memoryFor);
  }

  #made(): Room | undefined {
    if (this.#isMade) return this.#room;
    this.#isMade = true;
    try {
      this.#room = new Room(new Kernel({ maxPages: this.#maxPages }));
    } catch {
      // No address space is left: a kernel reserves some.
    }
    return this.#room;
  }
}

/** Memory for a text and its stream. */
class Room {
  readonly #kernel: Kernel;
  readonly #table: CodeTable;
  readonly #text: Scratch;
  readonly #stream: Scratch;
  readonly #hashes: number;
  /** Bytes of the longest text that there is memory for. */
  #capacity = 0;

  constructor(kernel: Kernel) {
    this.#kernel = kernel;
    this.#table = new CodeTable(kernel);
    this.#text = new Scratch(kernel);
    this.#stream = new Scratch(kernel);
    this.#hashes = kernel.arena.take(HASH_BYTES);
  }

  /** Takes memory for a text; false where there is none. */
  reserve(bytes: number): boolean {
    if (bytes <= this.#capacity) return true;
    let capacity = LEAST_TEXT_BYTES;
    while (capacity < bytes) capacity *= 2;
    this.#capacity = 0;
    try {
      this.#text.of(capacity + OVERRUN);
      this.#stream.of(streamRoom(capacity));
      this.#capacity = capacity;
    } catch {
      // Neither the kernel nor the system has it.
    }
    return this.#capacity > 0;
  }

  deflate(pieces: readonly Uint8Array[], fit: CodeFit, memoryFor: MemoryFor): Deflated {
    const bytes = bytesOf(pieces);
    if (!this.reserve(bytes)) throw new RangeError('There is no memory for a text');
    const from = this.#text.of(bytes + OVERRUN);
    const text = this.#kernel.window(from, bytes);
    let at = 0;
    for (const piece of pieces) {
      copyBytes(piece, text, at);
      at += piece.length;
    }
    const to = this.#stream.of(streamRoom(bytes));
    this.#table.use(fit.code);
    if (fit.isDue(bytes)) fit.fit(this.#counts(from, bytes, to));
    const { code } = fit;
    this.#table.use(code);
    const bits = this.#kernel.run.deflateText(from, bytes, this.#table.address, this.#hashes, to);
    const length = code.blockBytes(bits);
    const { buffer, byteOffset } = memoryFor(wordsFor(length * 8));
    const data = Buffer.from(buffer, byteOffset, length);
    copyBytes(this.#kernel.window(to, length), data, 0);
    return { pieces: [data], crc: crc32(text), bytes, isApart: true };
  }

  /** The symbols that the text takes. */
  #counts(from: number, bytes: number, to: number): readonly number[] {
    const at = to >>> 2;
    this.#kernel.u32.fill(0, at, at + SYMBOLS);
    this.#kernel.run.countText(from, bytes, this.#table.address, this.#hashes, to);
    return Array.from(this.#kernel.u32.subarray(at, at + SYMBOLS));
  }
}
