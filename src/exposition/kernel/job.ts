// What the kernel is to write, and what came of it: words, which two threads may share.
import type { KernelExports } from './kernel-exports.js';

/** How many words a job takes. */
export const JOB_WORDS = 16;

/** Where its parts are. */
const [IS_DONE, WORK, ABOUT, FROM, BYTES, TO, CODE] = [0, 1, 2, 3, 4, 5, 6];
const [LENGTH, CRC, INFLATED] = [7, 8, 9];

/** Which function of the kernel is to be called. */
const WORKS = { renderAll: 0, renderChanged: 1, rewrite: 2, deflateAll: 3, deflateChanged: 4 };

/** It is used for each part of each render: what is called for each calls as little as it can. */
export class Job {
  /** Addresses are of 32 bits. */
  readonly #words: Uint32Array;
  /** The same words: threads wait for signed ones. */
  readonly #signed: Int32Array;

  /** @param at where its words begin */
  constructor(words: Int32Array, at: number) {
    this.#signed = words.subarray(at, at + JOB_WORDS);
    this.#words = new Uint32Array(words.buffer, this.#signed.byteOffset, JOB_WORDS);
  }

  renderAll(passage: number, to: number): void {
    this.#begin(WORKS.renderAll, passage, 0, to);
  }

  renderChanged(passage: number, from: number, bytes: number, to: number): void {
    this.#begin(WORKS.renderChanged, passage, from, to);
    this.#words[BYTES] = bytes;
  }

  rewrite(passage: number, text: number, bytes: number, room: number): void {
    this.#begin(WORKS.rewrite, passage, text, room);
    this.#words[BYTES] = bytes;
  }

  deflateAll(block: number, code: number, to: number): void {
    this.#begin(WORKS.deflateAll, block, 0, to);
    this.#words[CODE] = code;
  }

  deflateChanged(block: number, code: number, from: number, to: number): void {
    this.#begin(WORKS.deflateChanged, block, from, to);
    this.#words[CODE] = code;
  }

  /**
   * A thread that another one may wait for calls `tell` after it.
   * @param written inner CRC and number of bytes of the lines that were deflated last
   */
  carryOut(run: KernelExports, written: Uint32Array): void {
    const words = this.#words;
    const {
      [ABOUT]: about = 0,
      [FROM]: from = 0,
      [BYTES]: bytes = 0,
      [TO]: to = 0,
      [CODE]: code = 0,
      [WORK]: work = 0,
    } = words;
    if (work === WORKS.renderAll) words[LENGTH] = run.renderAll(about, to);
    else if (work === WORKS.renderChanged)
      words[LENGTH] = run.renderChanged(about, from, bytes, to);
    else if (work === WORKS.rewrite) words[LENGTH] = run.rewrite(about, from, bytes, to);
    else {
      words[LENGTH] =
        work === WORKS.deflateAll
          ? run.deflateAll(about, code, to)
          : run.deflateChanged(about, code, from, to);
      words[CRC] = written[0] ?? 0;
      words[INFLATED] = written[1] ?? 0;
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

  /** Bytes of the text, or bits of the lines in the stream. */
  get length(): number {
    return this.#words[LENGTH] ?? 0;
  }
  /** Inner CRC of the lines in the stream, and their bytes. */
  get crc(): number {
    return this.#words[CRC] ?? 0;
  }
  get bytes(): number {
    return this.#words[INFLATED] ?? 0;
  }

  #begin(work: number, about: number, from: number, to: number): void {
    const words = this.#words;
    words[WORK] = work;
    words[ABOUT] = about;
    words[FROM] = from;
    words[TO] = to;
    words[IS_DONE] = 0;
  }
}
