// The variables that no row of the catalogue reads, counted by class and name.
import type { Variable } from '../../model.js';

export interface UnreadVariable {
  readonly className: string;
  readonly name: string;
  readonly count: number;
}

/** Further distinct names are only counted: publishers can invent any number of them. */
const MAX_NAMES = 1000;

export class UnreadVariables {
  readonly #byName = new Map<string, { className: string; name: string; count: number }>();
  #count = 0;

  get count(): number {
    return this.#count;
  }

  get names(): readonly UnreadVariable[] {
    return [...this.#byName.values()].map((each) => ({ ...each }));
  }

  add({ object: { className }, name }: Variable): void {
    this.#count++;
    const key = keyOf(className, name);
    const known = this.#byName.get(key);
    if (known !== undefined) known.count++;
    else if (this.#byName.size < MAX_NAMES) this.#byName.set(key, { className, name, count: 1 });
  }

  remove({ object: { className }, name }: Variable): void {
    this.#count--;
    const key = keyOf(className, name);
    const known = this.#byName.get(key);
    if (known !== undefined && --known.count === 0) this.#byName.delete(key);
  }
}

const keyOf = (className: string, name: string): string =>
  `${className.length} ${className} ${name}`;
