// Compresses the text of a page by what is known of it: much sooner than zlib, and mostly to less.
import { crc32 } from 'node:zlib';
import type { Deflated } from '../../model.js';
import { wordsFor } from '../deflate/bit-writer.js';
import { SYMBOLS } from '../deflate/deflate-code.js';
import type { CodeFit } from './code-fit.js';
import { CodeTable } from './code-table.js';
import { streamRoom } from './deflater.js';
import { Kernel, OVERRUN } from './kernel.js';
import { Scratch } from './scratch.js';

/** A megabyte takes a millisecond: more would hold up others. Headers are searched, which takes longer. */
export const MOST_TEXT_BYTES = 2 ** 22;
const BYTES_A_HEADER = 3072;

/** Memory for the longest text, for the most that its stream may take, and as much again for growth. */
const MAX_PAGES = 512;
/** What assembly/page-text.ts needs beside the text. */
const HASH_BYTES = 32_768;

type MemoryFor = (words: number) => Uint32Array;

export class TextDeflater {
  /** Taken at the first text; undefined after that where the system has none. */
  #room: Room | undefined;
  #isMade = false;

  /** Whether it compresses a text like that: zlib compresses longer ones, and needs less memory. */
  takes(bytes: number, families: number): boolean {
    return bytes + families * BYTES_A_HEADER <= MOST_TEXT_BYTES && this.#made() !== undefined;
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
      this.#room = new Room();
    } catch {
      // No address space is left: a kernel reserves some.
    }
    return this.#room;
  }
}

/** Memory for a text and its stream. */
class Room {
  readonly #kernel = new Kernel({ maxPages: MAX_PAGES });
  readonly #table = new CodeTable(this.#kernel);
  readonly #text = new Scratch(this.#kernel);
  readonly #stream = new Scratch(this.#kernel);
  readonly #hashes = this.#kernel.arena.take(HASH_BYTES);

  deflate(pieces: readonly Uint8Array[], fit: CodeFit, memoryFor: MemoryFor): Deflated {
    const bytes = pieces.reduce((sum, { length }) => sum + length, 0);
    const from = this.#text.of(bytes + OVERRUN);
    let crc = 0;
    let at = from;
    for (const piece of pieces) {
      this.#kernel.bytes.set(piece, at);
      at += piece.length;
      crc = crc32(piece, crc);
    }
    const to = this.#stream.of(streamRoom(bytes));
    this.#table.use(fit.code);
    fit.fit(bytes, (counts) => {
      this.#count(from, bytes, to, counts);
    });
    const { code } = fit;
    this.#table.use(code);
    const bits = this.#kernel.run.deflateText(from, bytes, this.#table.address, this.#hashes, to);
    const length = code.blockBytes(bits);
    const { buffer, byteOffset } = memoryFor(wordsFor(length * 8));
    const data = new Uint8Array(buffer, byteOffset, length);
    data.set(this.#kernel.bytes.subarray(to, to + length));
    return { pieces: [data], crc, bytes, isApart: true };
  }

  /** Adds the symbols that the text takes to `counts`. */
  #count(from: number, bytes: number, to: number, counts: number[]): void {
    const at = to >>> 2;
    this.#kernel.u32.fill(0, at, at + SYMBOLS);
    this.#kernel.run.countText(from, bytes, this.#table.address, this.#hashes, to);
    const { u32 } = this.#kernel;
    for (let i = 0; i < SYMBOLS; i++) counts[i] = (counts[i] ?? 0) + (u32[at + i] ?? 0);
  }
}
