import { expect } from 'chai';
import { from, take } from 'rxjs';
import type { Observable } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import type { RunHelpers } from 'rxjs/testing';

/** Runs `body` in virtual time; every mismatch is a chai deep-equal failure. */
export function marbles(body: (helpers: RunHelpers) => void): () => void {
  const same = (actual: unknown, wanted: unknown) => void expect(actual).to.deep.equal(wanted);
  return () => new TestScheduler(same).run(body);
}

/**
 * The first two values. The consumer unsubscribes during the second emission, while the operator still has state from
 * the first one. After an unsubscription during the first emission, RxJS itself would end whatever the operator
 * starts, so the test would show nothing.
 */
export const firstTwo = <T>(source$: Observable<T>): Observable<T> => source$.pipe(take(2));

/** A synchronous source that counts the values that it has emitted. */
export function countedSource<T>(values: readonly T[]): {
  readonly source$: Observable<T>;
  readonly emitted: () => number;
} {
  let count = 0;
  function* each(): Generator<T> {
    for (const value of values) {
      count++;
      yield value;
    }
  }
  return { source$: from({ [Symbol.iterator]: each }), emitted: () => count };
}
