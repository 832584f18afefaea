import { expect } from 'chai';
import { TestScheduler } from 'rxjs/testing';
import type { RunHelpers } from 'rxjs/testing';

/** Runs `body` in virtual time; every mismatch is a chai deep-equal failure. */
export function marbles(body: (helpers: RunHelpers) => void): () => void {
  const same = (actual: unknown, wanted: unknown) => void expect(actual).to.deep.equal(wanted);
  return () => new TestScheduler(same).run(body);
}
