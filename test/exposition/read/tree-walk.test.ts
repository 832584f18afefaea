// Tests TreeWalk, which steps through a tree that changes between the steps.
import { expect } from 'chai';
import { TreeWalk } from '#app/exposition/read/tree-walk.js';
import { FakeSource } from '../../support/fake-source.js';

/** A tree: `a` has a variable and the children `b` and `d`; `c` is a child of `b`. */
function tree() {
  const source = new FakeSource();
  const a = source.addObject('a', 'A');
  source.addVariable(a, 'v', { type: 'u64' });
  const b = source.addObject('b', 'B', { parent: a });
  const c = source.addObject('c', 'C', { parent: b });
  source.addVariable(c, 'w', { type: 'u64' });
  const d = source.addObject('d', 'D', { parent: a });
  return { source, a, b, c, d };
}

/** Returns the names of the items that the walk visits in this number of steps. */
function namesOf(walk: TreeWalk, steps = Infinity): string {
  let names = '';
  for (let i = 0; i < steps; i++) {
    const item = walk.next();
    if (item === undefined) break;
    names += item.name;
  }
  return names;
}

describe('a walk through a tree', () => {
  it('visits each object either before or after all its descendants', () => {
    const { a } = tree();
    expect(namesOf(new TreeWalk(a, true))).to.equal('avbcwd');
    expect(namesOf(new TreeWalk(a, false))).to.equal('vwcbda');
  });

  it('visits objects that are added ahead of its position, but no removed objects', () => {
    const { source, a, b, d } = tree();
    const walk = new TreeWalk(a, true);
    expect(namesOf(walk, 3)).to.equal('avb');
    source.remove(d);
    source.addObject('e', 'E', { parent: b });
    source.addObject('f', 'F', { parent: a });
    expect(namesOf(walk)).to.equal('cwef');
    expect(walk.isOver).to.equal(true);
  });

  it('skips the rest of an object if the object is removed during its visit', () => {
    const { source, a, b } = tree();
    const walk = new TreeWalk(a, true);
    expect(namesOf(walk, 4)).to.equal('avbc');
    source.remove(b);
    walk.skip(b);
    expect(namesOf(walk)).to.equal('d');
  });

  it('skips nothing for an object that the walk is not inside', () => {
    const { a, b, d } = tree();
    const walk = new TreeWalk(a, true);
    walk.skip(d);
    expect(namesOf(walk, 3)).to.equal('avb');
    walk.skip(b);
    walk.skip(a);
    expect([walk.next(), walk.isOver]).to.deep.equal([undefined, true]);
  });
});
