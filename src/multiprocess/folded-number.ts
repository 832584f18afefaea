// A number that is folded from the values of entries in several files.
import { FOLDS, withoutRounding } from '../foreign/fold.js';
import type { FoldRule } from '../foreign/fold.js';

/**
 * `count`: a sum that never falls by a rounding error. `latest`: the value with the greatest time. `last`: the value of
 * the file that was added last.
 */
export type NumberRule = FoldRule | 'count' | 'latest' | 'last';

/** The values of a file, by the index of their entry. */
export interface FileValues {
  readonly values: Float64Array;
  /** The Unix times of the values; undefined if the file has none. */
  readonly times: Float64Array | undefined;
}

/** @template O the type of the series that shows the number */
export class FoldedNumber<O = unknown> {
  readonly owner: O;
  readonly rule: NumberRule;
  /** Whether an input has changed since the last call of `fold`. */
  isChanged = true;
  /** The inputs: a file, and the index of the entry in it. */
  readonly #files: FileValues[] = [];
  readonly #indexes: number[] = [];
  /** The sum of the inputs that were removed and stay counted. */
  #kept: number | undefined;
  #value: number | undefined;

  constructor(owner: O, rule: NumberRule) {
    this.owner = owner;
    this.rule = rule;
  }

  /** The number of inputs. */
  get size(): number {
    return this.#files.length;
  }

  /** Whether the number has no value, and needs none. */
  get isEmpty(): boolean {
    return this.#files.length === 0 && this.#kept === undefined;
  }

  /** The last result of `fold`. */
  get value(): number | undefined {
    return this.#value;
  }

  add(file: FileValues, index: number): void {
    this.#files.push(file);
    this.#indexes.push(index);
    this.isChanged = true;
  }

  /** Removes an input. @param isKept whether its value stays in the sum */
  remove(file: FileValues, index: number, isKept: boolean): void {
    let at = this.#files.indexOf(file);
    while (at >= 0 && this.#indexes[at] !== index) at = this.#files.indexOf(file, at + 1);
    if (at < 0) return;
    this.#files.splice(at, 1);
    this.#indexes.splice(at, 1);
    this.isChanged = true;
    const value = file.values[index] ?? NaN;
    // A NaN that stays would make the sum NaN for ever.
    if (isKept && !Number.isNaN(value)) this.#kept = (this.#kept ?? 0) + value;
  }

  /** Computes the value from all inputs; undefined if there is none. */
  fold(): number | undefined {
    this.isChanged = false;
    return (this.#value = this.#folded());
  }

  #folded(): number | undefined {
    const { rule } = this;
    if (rule === 'latest') return this.#latest();
    if (rule === 'last') return this.#valueAt(this.#files.length - 1);
    if (rule === 'sum' || rule === 'count') {
      if (this.isEmpty) return undefined;
      let sum = this.#kept ?? 0;
      for (let at = 0; at < this.#files.length; at++) sum += this.#valueAt(at) ?? 0;
      return rule === 'count' ? withoutRounding(sum, this.#value ?? -Infinity) : sum;
    }
    const foldTwo = FOLDS[rule];
    let result = this.#valueAt(0);
    for (let at = 1; at < this.#files.length; at++) {
      const next = this.#valueAt(at);
      if (result !== undefined && next !== undefined) result = foldTwo(result, next);
    }
    return result;
  }

  /**
   * The value with the greatest time. A value without a time was never set, and does not count. Of two values with the
   * same time, the greater one counts.
   */
  #latest(): number | undefined {
    let latest: number | undefined;
    let latestTime = 0;
    for (let at = 0; at < this.#files.length; at++) {
      const time = this.#files[at]?.times?.[this.#indexes[at] ?? 0] ?? 0;
      const value = this.#valueAt(at);
      if (value === undefined || !(time > 0) || time < latestTime) continue;
      if (latest !== undefined && time === latestTime && !(value > latest)) continue;
      latest = value;
      latestTime = time;
    }
    return latest;
  }

  #valueAt(at: number): number | undefined {
    return this.#files[at]?.values[this.#indexes[at] ?? 0];
  }
}
