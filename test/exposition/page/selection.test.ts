// selectFamilies: the families of a snapshot that a scope selects, and their cache. Spec 2.3.
import { expect } from 'chai';
import { compileScope, selectFamilies } from '#app/exposition/page/scope.js';
import type { Snapshot } from '#app/model.js';
import { familyText, snapshotOf } from '../../support/snapshot-of.js';

describe('the selection of families by a scope (spec 2.3)', () => {
  const showing = (...names: readonly string[]): Snapshot =>
    snapshotOf(
      names.map((name) =>
        familyText({ name, type: 'gauge', unit: '', help: '' }, [Buffer.from(`${name} 1\n`)]),
      ),
    );
  const scope = (...metrics: readonly string[]) => compileScope({ name: 'one', metrics });

  it('has the objects of the families in their order, and copies no text', () => {
    const snapshot = showing('b_1', 'a_1', 'b_2', 'c_1');
    const { families } = selectFamilies(snapshot, scope('c_*', 'b_*'));
    expect(families).to.deep.equal([0, 2, 3].map((index) => snapshot.families[index]));
    expect(families[0]).to.equal(snapshot.families[0]);
  });

  it('is empty if no family matches', () => {
    expect(selectFamilies(showing('a'), scope('b')).families).to.deep.equal([]);
  });

  it('is cached for each snapshot and scope', () => {
    const [first, second] = [showing('a', 'b'), showing('a', 'b')];
    const [old, reloaded] = [scope('a'), scope('a')];
    const isHit = (snapshot: Snapshot, which: typeof old) => selectFamilies(snapshot, which).isHit;
    expect([
      isHit(first, old),
      isHit(first, old),
      isHit(first, reloaded),
      isHit(second, old),
      isHit(first, old),
      isHit(second, old),
    ]).to.deep.equal([false, true, false, false, true, true]);
    expect(selectFamilies(first, old).families).to.equal(selectFamilies(first, old).families);
  });
});
