// A number that is folded from the values of entries in several files.
import { FOLDS, withoutRounding } from '../foreign/fold.js';
import type { FoldRule } from '../foreign/fold.js';

/**
 * `count`: a sum that never falls by a rounding error. `latest`: the value with the greatest time. `last`: the value of
 * the last file.
 */
export type NumberRule = FoldRule | 'count' | 'latest' | 'last';

/**
 * A number of a series, folded from one value of each of several files. The files keep the values. To fold them, call
 * `beginFold`, then `foldIn` for each input in the order of the files, then `endFold`.
 * @template O the type of the series that shows the number
 */
export class FoldedNumber<O = unknown> {
  readonly owner: O;
  readonly rule: NumberRule;
  /** Whether an input has changed since the last call of `endFold`. */
  isChanged = true;
  #inputs = 0;
  /** The sum of the inputs that were removed and stay counted. */
  #kept: number | undefined;
  #value: number | undefined;
  /** The fold of the inputs so far. */
  #folded = NaN;
  /** The time of this value, for `latest`; 0 if no input has a time. */
  #time = 0;

  constructor(owner: O, rule: NumberRule) {
    this.owner = owner;
    this.rule = rule;
  }

  /** Whether the number has neither inputs nor a kept sum. */
  get isEmpty(): boolean {
    return this.#inputs === 0 && this.#kept === undefined;
  }

  /** The last result of `endFold`. */
  get value(): number | undefined {
    return this.#value;
  }

  /** Adds an input. A file has at most one: a process has one value of a series. */
  add(): void {
    this.#inputs++;
    this.isChanged = true;
  }

  /**
   * Removes an input.
   * @param value the last value of the input
   * @param isKept whether the value stays in the sum
   */
  remove(value: number, isKept: boolean): void {
    this.#inputs--;
    this.isChanged = true;
    // A NaN that stays would make the sum NaN for ever.
    if (isKept && !Number.isNaN(value)) this.#kept = (this.#kept ?? 0) + value;
  }

  beginFold(): void {
    this.#folded = this.#isSum ? (this.#kept ?? 0) : NaN;
    this.#time = 0;
  }

  /** @param time the Unix time of the value; 0 if it has none */
  foldIn(value: number, time: number): void {
    const { rule } = this;
    if (this.#isSum) this.#folded += value;
    else if (rule === 'latest') this.#foldInLatest(value, time);
    else if (rule === 'min' || rule === 'max') this.#folded = FOLDS[rule](this.#folded, value);
    else this.#folded = value;
  }

  /**
   * Returns the new value, or the last one if no input has changed. Undefined if there is no input or, for `latest`, none
   * with a time.
   */
  endFold(): number | undefined {
    if (!this.isChanged) return this.#value;
    this.isChanged = false;
    const isAbsent = this.rule === 'latest' ? this.#time === 0 : this.isEmpty;
    if (isAbsent) return (this.#value = undefined);
    const last = this.rule === 'count' ? (this.#value ?? -Infinity) : -Infinity;
    return (this.#value = withoutRounding(this.#folded, last));
  }

  get #isSum(): boolean {
    return this.rule === 'count' || this.rule === 'sum';
  }

  /**
   * A value without a time was never set, and does not count. Of two values with the same time, the greater one counts.
   */
  #foldInLatest(value: number, time: number): void {
    if (!(time > 0) || time < this.#time) return;
    if (time === this.#time && !(value > this.#folded)) return;
    this.#folded = value;
    this.#time = time;
  }
}
