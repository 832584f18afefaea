// What the kernel is to do with one block, and what came of it: words, which two threads may share.
import type { KernelExports } from './kernel-exports.js';

/** How many words a job takes. */
export const JOB_WORDS = 16;

/** Where its parts are. */
const [IS_DONE, BLOCK] = [0, 1];
const [TEXT, TEXT_FROM, TEXT_BYTES, TEXT_TO] = [2, 3, 4, 5];
const [STREAM, CODE, STREAM_FROM, STREAM_TO] = [6, 7, 8, 9];
const [LENGTH, BITS, CRC, BYTES] = [10, 11, 12, 13];

/** What is to be done for a form. */
const DO = { nothing: 0, writeAll: 1, copyUnchanged: 2, writeInPlace: 3 };

/** It is used for each block of each render: what is called for each calls as little as it can. */
export class BlockJob {
  /** Addresses are of 32 bits. */
  readonly #words: Uint32Array;
  /** The same words: threads wait for signed ones. */
  readonly #signed: Int32Array;

  /** @param at where its words begin */
  constructor(words: Int32Array, at: number) {
    this.#signed = words.subarray(at, at + JOB_WORDS);
    this.#words = new Uint32Array(words.buffer, this.#signed.byteOffset, JOB_WORDS);
  }

  /** It is about that block from now on, and nothing is to be done. */
  begin(block: number): void {
    const words = this.#words;
    words[BLOCK] = block;
    words[TEXT] = DO.nothing;
    words[STREAM] = DO.nothing;
    words[IS_DONE] = 0;
  }

  /** `renderAll` is to be called. */
  renderAll(to: number): void {
    const words = this.#words;
    words[TEXT] = DO.writeAll;
    words[TEXT_TO] = to;
  }

  /** `renderChanged` is to be called. */
  renderChanged(from: number, bytes: number, to: number): void {
    const words = this.#words;
    words[TEXT] = DO.copyUnchanged;
    words[TEXT_FROM] = from;
    words[TEXT_BYTES] = bytes;
    words[TEXT_TO] = to;
  }

  /** `rewrite` is to be called. */
  rewrite(text: number, bytes: number, room: number): void {
    const words = this.#words;
    words[TEXT] = DO.writeInPlace;
    words[TEXT_FROM] = text;
    words[TEXT_BYTES] = bytes;
    words[TEXT_TO] = room;
  }

  /** `deflateAll` is to be called. */
  deflateAll(code: number, to: number): void {
    const words = this.#words;
    words[STREAM] = DO.writeAll;
    words[CODE] = code;
    words[STREAM_TO] = to;
  }

  /** `deflateChanged` is to be called. */
  deflateChanged(code: number, from: number, to: number): void {
    const words = this.#words;
    words[STREAM] = DO.copyUnchanged;
    words[CODE] = code;
    words[STREAM_FROM] = from;
    words[STREAM_TO] = to;
  }

  /**
   * A thread that another one may wait for calls `tell` after it.
   * @param written inner CRC and number of bytes of the lines that were deflated last
   */
  carryOut(run: KernelExports, written: Uint32Array): void {
    const words = this.#words;
    const {
      [BLOCK]: block = 0,
      [TEXT_FROM]: from = 0,
      [TEXT_BYTES]: bytes = 0,
      [TEXT_TO]: to = 0,
    } = words;
    if (words[TEXT] === DO.writeAll) words[LENGTH] = run.renderAll(block, to);
    else if (words[TEXT] === DO.copyUnchanged)
      words[LENGTH] = run.renderChanged(block, from, bytes, to);
    else if (words[TEXT] === DO.writeInPlace) words[LENGTH] = run.rewrite(block, from, bytes, to);
    if (words[STREAM] !== DO.nothing) {
      const { [CODE]: code = 0, [STREAM_FROM]: before = 0, [STREAM_TO]: into = 0 } = words;
      words[BITS] =
        words[STREAM] === DO.writeAll
          ? run.deflateAll(block, code, into)
          : run.deflateChanged(block, code, before, into);
      words[CRC] = written[0] ?? 0;
      words[BYTES] = written[1] ?? 0;
    }
    Atomics.store(this.#signed, IS_DONE, 1);
  }

  /** Wakes the other thread, which may wait for it. */
  tell(): void {
    Atomics.notify(this.#signed, IS_DONE);
  }

  get isDone(): boolean {
    return Atomics.load(this.#signed, IS_DONE) === 1;
  }

  /** Waits until another thread has done it, for so long; whether it has. */
  waitMs(ms: number): boolean {
    if (!this.isDone) Atomics.wait(this.#signed, IS_DONE, 0, ms);
    return this.isDone;
  }

  /** Bytes of the text. */
  get length(): number {
    return this.#words[LENGTH] ?? 0;
  }
  /** Bits of the lines in the stream. */
  get bits(): number {
    return this.#words[BITS] ?? 0;
  }
  /** Inner CRC of the lines, and their bytes. */
  get crc(): number {
    return this.#words[CRC] ?? 0;
  }
  get bytes(): number {
    return this.#words[BYTES] ?? 0;
  }
}
