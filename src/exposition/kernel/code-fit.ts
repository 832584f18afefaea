// The code of the streams of one text, renewed when it does not fit any more.
import { DeflateCode, SYMBOLS } from '../deflate/deflate-code.js';
import type { CodeLengths } from '../deflate/huffman.js';

/** The lengths of that many symbols, all of them of that many bits. */
const alike = (symbols: number, bits: number): CodeLengths =>
  Array.from({ length: symbols }, () => bits);

/** Before anything is known of the lines: lengths that differ as little as those of a complete code can. */
const GUESS = [...alike(226, 8), ...alike(60, 9), ...alike(2, 4), ...alike(28, 5)];

/** The code is checked after that many renders, and when the size of the text changes by that part. */
const RENDERS_A_CHECK = 256;
const GROWTH = 0.25;
/** A code that takes so many times the bits of another gives way to it. */
const CLEARLY_WORSE = 1.02;

let guess: DeflateCode | undefined;

export class CodeFit {
  #code = (guess ??= new DeflateCode(GUESS));
  #rendersToCheck = 0;
  /** The size when it was checked last. */
  #sizeChecked = 0;

  get code(): DeflateCode {
    return this.#code;
  }

  /** Whether it is to be checked before a render of a text of that size, in lines or bytes. Ask once a render. */
  isDue(size: number): boolean {
    const isGrown = Math.abs(size - this.#sizeChecked) > this.#sizeChecked * GROWTH;
    if (--this.#rendersToCheck > 0 && !isGrown) return false;
    this.#rendersToCheck = RENDERS_A_CHECK;
    this.#sizeChecked = size;
    return true;
  }

  /**
   * Takes the best code for the symbols of the text, if it is clearly better than the present one.
   * @param counts of all of them, or of some: see `noSymbols`
   */
  fit(counts: readonly number[]): void {
    const best = DeflateCode.of(counts);
    if (this.#code.cost(counts) > best.cost(counts) * CLEARLY_WORSE) this.#code = best;
  }
}

/** Counts of symbols that did not occur. */
export const noSymbols = (): number[] => Array.from({ length: SYMBOLS }, () => 0);
