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

  /**
   * Adds bits from the `first` of some bytes on, which begin at an address that is a multiple of 4; a
   * word is read beyond the last.
   */
  append({ buffer, byteOffset }: Uint8Array, first: number, bits: number): void {
    const begin = Math.floor(first / 32);
    const words = Math.floor(bits / 32);
    const source = new Uint32Array(buffer, byteOffset + begin * 4, words + 2);
    const shift = first % 32;
    const wordAt = (i: number): number =>
      shift === 0
        ? (source[i] ?? 0)
        : ((source[i] ?? 0) >>> shift) | ((source[i + 1] ?? 0) << (32 - shift));
    const target = this.#words;
    const used = this.#used;
    let at = this.#at;
    let rest = this.#rest;
    for (let i = 0; i < words; i++) {
      const word = wordAt(i);
      target[at++] = used === 0 ? word : rest | (word << used);
      rest = used === 0 ? 0 : word >>> (32 - used);
    }
    this.#at = at;
    this.#rest = rest;
    const left = bits % 32;
    if (left > 0) this.put([wordAt(words) & (2 ** left - 1), left]);
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
