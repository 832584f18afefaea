// Writes a deflate stream bit by bit, lowest bit first. RFC 1951, 3.1.1.
import type { Bits } from './huffman.js';

/** Words for that many bits. */
export const wordsFor = (bits: number): number => Math.ceil(bits / 32) + 2;

export class BitWriter {
  readonly #words: Uint32Array;
  #at = 0;
  /** The bits of the word that is not full yet. */
  #rest = 0;
  #used = 0;

  /** @param words memory for all that is written, and one word more */
  constructor(words: Uint32Array) {
    this.#words = words;
  }

  /** Number of bits written. */
  get bits(): number {
    return this.#at * 32 + this.#used;
  }

  /** Adds at most 31 bits. */
  put([bits, count]: Bits): void {
    this.#rest |= bits << this.#used;
    const used = this.#used + count;
    if (used < 32) {
      this.#used = used;
      return;
    }
    this.#words[this.#at++] = this.#rest;
    this.#rest = this.#used === 0 ? 0 : bits >>> (32 - this.#used);
    this.#used = used - 32;
  }

  /** Adds bits from the `first` of some bytes on; a word is read beyond the last. */
  append({ buffer, byteOffset }: Uint8Array, first: number, bits: number): void {
    const source = new DataView(buffer, byteOffset);
    for (let at = first, end = first + bits; at < end; at += 16) {
      const count = Math.min(16, end - at);
      this.put([(source.getUint32(at >>> 3, true) >>> (at & 7)) & (2 ** count - 1), count]);
    }
  }

  /** An empty stored block: what follows begins at a byte. */
  align(): void {
    this.put([0, 3]);
    if (this.#used % 8 > 0) this.put([0, 8 - (this.#used % 8)]);
    this.put([0, 16]);
    this.put([0xffff, 16]);
  }

  /** What was written, up to a whole byte. */
  bytes(): Uint8Array {
    this.#words[this.#at] = this.#rest;
    const { buffer, byteOffset } = this.#words;
    return new Uint8Array(buffer, byteOffset, this.#at * 4 + Math.ceil(this.#used / 8));
  }
}
