// What is kept from one page to the next that is like it: of the whole page of a target, and of each scope.
import type { FamilyFacts } from '../../model.js';
import { madeOnce } from '../made-once.js';

/** So many of one target; of more, those that were asked for least recently are forgotten. */
const MAX_KINDS = 8;

interface Kind<T> {
  readonly first: FamilyFacts | undefined;
  readonly last: FamilyFacts | undefined;
  readonly kept: T;
}

export class PageKinds<T> {
  readonly #make: () => T;
  /** By what the pages are of, the most recent last. */
  readonly #known = new WeakMap<object, Kind<T>[]>();

  /** @param make what is kept of pages that are unlike all others */
  constructor(make: () => T) {
    this.#make = make;
  }

  /**
   * What is kept of pages that begin and end with the same families.
   * @param origin that of the snapshot
   */
  of(origin: object, facts: readonly FamilyFacts[]): T {
    const [first, last] = [facts[0], facts.at(-1)];
    const all = madeOnce(this.#known, origin, () => []);
    const at = all.findIndex((kind) => kind.first === first && kind.last === last);
    const kind = all[at] ?? { first, last, kept: this.#make() };
    if (at >= 0) all.splice(at, 1);
    if (all.push(kind) > MAX_KINDS) all.shift();
    return kind.kept;
  }
}
