// What the kernel is to do with one block, and what came of it: words, which two threads may share.
import type { KernelExports } from './kernel-exports.js';

/** How many words a job takes. */
export const JOB_WORDS = 16;

/** Where its parts are. Addresses are of 32 bits; the words are signed, since threads wait for such. */
const AT = {
  isDone: 0,
  block: 1,
  ...{ text: 2, textFrom: 3, textBytes: 4, textTo: 5 },
  ...{ stream: 6, code: 7, streamFrom: 8, streamTo: 9 },
  ...{ length: 10, bits: 11, crc: 12, bytes: 13 },
};

/** What is to be done for a form. */
const DO = { nothing: 0, writeAll: 1, copyUnchanged: 2, writeInPlace: 3 };

export class BlockJob {
  readonly #words: Int32Array;
  readonly #at: number;

  /** @param at where its words begin */
  constructor(words: Int32Array, at: number) {
    this.#words = words;
    this.#at = at;
  }

  /** It is about that block from now on, and nothing is to be done. */
  begin(block: number): void {
    this.#set(AT.block, block);
    this.#set(AT.text, DO.nothing);
    this.#set(AT.stream, DO.nothing);
    this.#set(AT.isDone, 0);
  }

  /** `renderAll` is to be called. */
  renderAll(to: number): void {
    this.#set(AT.text, DO.writeAll);
    this.#set(AT.textTo, to);
  }

  /** `renderChanged` is to be called. */
  renderChanged(from: number, bytes: number, to: number): void {
    this.#set(AT.text, DO.copyUnchanged);
    this.#set(AT.textFrom, from);
    this.#set(AT.textBytes, bytes);
    this.#set(AT.textTo, to);
  }

  /** `rewrite` is to be called. */
  rewrite(text: number, bytes: number, room: number): void {
    this.#set(AT.text, DO.writeInPlace);
    this.#set(AT.textFrom, text);
    this.#set(AT.textBytes, bytes);
    this.#set(AT.textTo, room);
  }

  /** `deflateAll` is to be called. */
  deflateAll(code: number, to: number): void {
    this.#set(AT.stream, DO.writeAll);
    this.#set(AT.code, code);
    this.#set(AT.streamTo, to);
  }

  /** `deflateChanged` is to be called. */
  deflateChanged(code: number, from: number, to: number): void {
    this.deflateAll(code, to);
    this.#set(AT.stream, DO.copyUnchanged);
    this.#set(AT.streamFrom, from);
  }

  /** @param written inner CRC and number of bytes of the lines that were deflated last */
  carryOut(run: KernelExports, written: Uint32Array): void {
    this.#writeText(run);
    if (this.#get(AT.stream) !== DO.nothing) {
      this.#set(AT.bits, this.#deflated(run));
      this.#set(AT.crc, written[0] ?? 0);
      this.#set(AT.bytes, written[1] ?? 0);
    }
    Atomics.store(this.#words, this.#at + AT.isDone, 1);
    Atomics.notify(this.#words, this.#at + AT.isDone);
  }

  get isDone(): boolean {
    return Atomics.load(this.#words, this.#at + AT.isDone) === 1;
  }

  /** Waits until another thread has done it, for so long; whether it has. */
  waitMs(ms: number): boolean {
    if (!this.isDone) Atomics.wait(this.#words, this.#at + AT.isDone, 0, ms);
    return this.isDone;
  }

  /** Bytes of the text. */
  get length(): number {
    return this.#get(AT.length);
  }
  /** Bits of the lines in the stream. */
  get bits(): number {
    return this.#get(AT.bits);
  }
  /** Inner CRC of the lines, and their bytes. */
  get crc(): number {
    return this.#get(AT.crc);
  }
  get bytes(): number {
    return this.#get(AT.bytes);
  }

  #writeText(run: KernelExports): void {
    const [block, from, to] = [this.#get(AT.block), this.#get(AT.textFrom), this.#get(AT.textTo)];
    switch (this.#get(AT.text)) {
      case DO.writeAll:
        this.#set(AT.length, run.renderAll(block, to));
        break;
      case DO.copyUnchanged:
        this.#set(AT.length, run.renderChanged(block, from, this.#get(AT.textBytes), to));
        break;
      case DO.writeInPlace:
        this.#set(AT.length, run.rewrite(block, from, this.#get(AT.textBytes), to));
    }
  }

  #deflated(run: KernelExports): number {
    const [block, code, to] = [this.#get(AT.block), this.#get(AT.code), this.#get(AT.streamTo)];
    return this.#get(AT.stream) === DO.writeAll
      ? run.deflateAll(block, code, to)
      : run.deflateChanged(block, code, this.#get(AT.streamFrom), to);
  }

  #get(part: number): number {
    return (this.#words[this.#at + part] ?? 0) >>> 0;
  }

  #set(part: number, value: number): void {
    this.#words[this.#at + part] = value;
  }
}
