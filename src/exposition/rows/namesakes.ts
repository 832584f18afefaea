// Variables that a later one of the same object and name hides: the last of them is next.
import type { Variable } from '../../model.js';

export class Namesakes {
  /** By id; removed ones are cleaned up now and then. */
  #sorted: Variable[] = [];
  /** By id. */
  readonly #there = new Set<number>();

  get isEmpty(): boolean {
    return this.#there.size === 0;
  }

  has({ id }: Variable): boolean {
    return this.#there.has(id);
  }

  add(variable: Variable): void {
    this.#there.add(variable.id);
    this.#sorted.splice(this.#placeOf(variable), 0, variable);
  }

  delete(variable: Variable): void {
    this.#there.delete(variable.id);
    if (this.#sorted.length > 2 * this.#there.size)
      this.#sorted = this.#sorted.filter((each) => this.#there.has(each.id));
  }

  /** Removes the last one; undefined if none is left. */
  takeLast(): Variable | undefined {
    for (;;) {
      const last = this.#sorted.pop();
      if (last === undefined || this.#there.delete(last.id)) return last;
    }
  }

  /** Mostly the end: variables arrive in the order of their ids. */
  #placeOf({ id }: Variable): number {
    let low = 0;
    let high = this.#sorted.length;
    if ((this.#sorted[high - 1]?.id ?? 0) < id) return high;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#sorted[middle]?.id ?? 0) < id) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}
