// A level that wanders: every move changes it a little, and it stays between 0 and its maximum.
import type { Random } from './random.js';

/** The largest move, as a part of the whole range. */
const STRIDE = 1 / 20;

export class Wandering {
  readonly #most: number;
  readonly #stride: number;
  readonly #perUnit: number;
  readonly #random: Random;
  /** In grains, so that sums are exact. */
  #at: number;

  /**
   * @param grain the least difference between two values; the first value is in the middle half of
   *   the range
   */
  constructor(most: number, grain: number, random: Random) {
    this.#perUnit = Math.round(1 / grain);
    this.#random = random;
    this.#most = Math.max(1, Math.round(most * this.#perUnit));
    this.#stride = Math.max(1, Math.floor(this.#most * STRIDE));
    this.#at = Math.round(this.#most / 4 + (random.next() * this.#most) / 2);
  }

  get value(): number {
    return this.#at / this.#perUnit;
  }

  move(): void {
    const random = this.#random;
    const step = 1 + random.below(this.#stride);
    const isUp = this.#at < step || (this.#at + step <= this.#most && random.below(2) === 1);
    this.#at += isUp ? step : -step;
  }
}
