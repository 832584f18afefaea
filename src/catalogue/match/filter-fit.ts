// Which entries of a target's filters have matched no object yet.
import type { Filters } from './filters.js';
import type { PlacedObject } from './placed-object.js';

/** Beyond this many an entry that matches nothing is not noticed: each costs a test for each object. */
const MAX_ENTRIES = 256;

export class FilterFit {
  readonly #unmatched: Set<(object: PlacedObject) => boolean>;

  constructor({ entries }: Pick<Filters, 'entries'>) {
    this.#unmatched = new Set(entries.slice(0, MAX_ENTRIES));
  }

  /** Number of entries of `classes`, `seed_path_groups` and `seed_paths` that matched no object. */
  get unmatched(): number {
    return this.#unmatched.size;
  }

  /** An object that the filters let through is tracked. */
  take(object: PlacedObject): void {
    for (const matches of this.#unmatched) if (matches(object)) this.#unmatched.delete(matches);
  }
}
