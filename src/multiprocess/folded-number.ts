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
  /** For each input, in the order of addition: its file in `#files`, and the index of its entry in `#indexes`. */
  readonly #files: FileValues[] = [];
  readonly #indexes: number[] = [];
  /** The sum of the inputs that were removed and stay counted. */
  #kept: number | undefined;
  #value: number | undefined;

  constructor(owner: O, rule: NumberRule) {
    this.owner = owner;
    this.rule = rule;
  }

  /** Whether the number has neither inputs nor a kept sum. */
  get isEmpty(): boolean {
    return this.#files.length === 0 && this.#kept === undefined;
  }

  /** The last result of `fold`. */
  get value(): number | undefined {
    return this.#value;
  }

  /** Adds an input. A file has at most one: a process has one value of a series. */
  add(file: FileValues, index: number): void {
    this.#files.push(file);
    this.#indexes.push(index);
    this.isChanged = true;
  }

  /** Removes an input. @param isKept whether its value stays in the sum */
  remove(file: FileValues, index: number, isKept: boolean): void {
    const at = this.#files.indexOf(file);
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
    const count = this.#files.length;
    let result: number | undefined;
    if (rule === 'sum' || rule === 'count') {
      if (this.isEmpty) return undefined;
      result = this.#kept ?? 0;
      for (let at = 0; at < count; at++) result += this.#inputValue(at);
      return rule === 'count' ? withoutRounding(result, this.#value ?? -Infinity) : result;
    }
    for (let at = 0; at < count; at++) {
      const next = this.#inputValue(at);
      result = result === undefined || rule === 'last' ? next : FOLDS[rule](result, next);
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
      if (!(time > 0) || time < latestTime) continue;
      const value = this.#inputValue(at);
      if (latest !== undefined && time === latestTime && !(value > latest)) continue;
      latest = value;
      latestTime = time;
    }
    return latest;
  }

  #inputValue(at: number): number {
    return this.#files[at]?.values[this.#indexes[at] ?? 0] ?? NaN;
  }
}
