// The part of a snapshot that a scope selects, and its cache. Spec 2.3.
import { expect } from 'chai';
import { compileScope, selected } from '#app/exposition/page/scope.js';
import type { Snapshot } from '#app/model.js';
import { piecesOf, snapshotOf } from '../../support/snapshot-of.js';

describe('the part of a snapshot that a scope selects (spec 2.3)', () => {
  const showing = (...names: readonly string[]): Snapshot =>
    snapshotOf(
      names.flatMap((name) =>
        piecesOf({ name, type: 'gauge', unit: '', help: '' }, [`${name} 1\n`, `${name} 2\n`]),
      ),
    );
  const scope = (...metrics: readonly string[]) => compileScope({ name: 'one', metrics });

  it('has the pieces of the families in their order, and copies no text', () => {
    const snapshot = showing('b_1', 'a_1', 'b_2', 'c_1');
    const { selection } = selected(snapshot, scope('c_*', 'b_*'));
    expect(selection.metadata).to.deep.equal([0, 2, 3].map((index) => snapshot.metadata[index]));
    const all = snapshot.lines('text') ?? [];
    expect(selection.lines('text')).to.have.ordered.members(
      [0, 1, 4, 5, 6, 7].map((index) => all[index]),
    );
    expect(selection.lines('deflated')).to.equal(undefined);
  });

  it('is empty if no family matches', () => {
    const { selection } = selected(showing('a'), scope('b'));
    expect([selection.metadata, selection.lines('text')]).to.deep.equal([[], []]);
  });

  it('is cached for each snapshot and scope', () => {
    const [first, second] = [showing('a', 'b'), showing('a', 'b')];
    const [old, reloaded] = [scope('a'), scope('a')];
    const isHit = (snapshot: Snapshot, which: typeof old) => selected(snapshot, which).isHit;
    expect([
      isHit(first, old),
      isHit(first, old),
      isHit(first, reloaded),
      isHit(second, old),
      isHit(first, old),
      isHit(second, old),
    ]).to.deep.equal([false, true, false, false, true, true]);
    expect(selected(first, old).selection).to.equal(selected(first, old).selection);
  });
});
