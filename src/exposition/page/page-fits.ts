// The codes of pages that are compressed as a whole: each has its own, for as long as its families are there.
import { CodeFit } from '../kernel/code-fit.js';
import { madeOnce } from '../made-once.js';
import type { FamilyFacts } from '../../model.js';

export class PageFits {
  /** By the first family and the last: scopes have others than the whole page. */
  readonly #fits = new WeakMap<FamilyFacts, WeakMap<FamilyFacts, CodeFit>>();

  /** That of pages with these families, in which only values and lines differ. */
  of(facts: readonly FamilyFacts[]): CodeFit {
    const [first, last] = [facts[0], facts.at(-1)];
    if (first === undefined || last === undefined) return new CodeFit();
    const fits = madeOnce(this.#fits, first, () => new WeakMap());
    return madeOnce(fits, last, () => new CodeFit());
  }
}
