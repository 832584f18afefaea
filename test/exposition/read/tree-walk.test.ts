// Steps through a tree that changes between them.
import { expect } from 'chai';
import { TreeWalk } from '#app/exposition/read/tree-walk.js';
import { FakeSource } from '../../support/fake-source.js';

/** `a` with a variable and the children `b` (with `c`) and `d`. */
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

/** The names of what is met in so many steps. */
function rest(walk: TreeWalk, steps = Infinity): string {
  let names = '';
  for (let i = 0; i < steps; i++) {
    const item = walk.next();
    if (item === undefined) break;
    names += item.name;
  }
  return names;
}

describe('a walk through a tree', () => {
  it('meets objects before or after all that is below them', () => {
    const { a } = tree();
    expect(rest(new TreeWalk(a, true))).to.equal('avbcwd');
    expect(rest(new TreeWalk(a, false))).to.equal('vwcbda');
  });

  it('meets what is added in time, and not what is removed', () => {
    const { source, a, b, d } = tree();
    const walk = new TreeWalk(a, true);
    expect(rest(walk, 3)).to.equal('avb');
    source.remove(d);
    source.addObject('e', 'E', { parent: b });
    source.addObject('f', 'F', { parent: a });
    expect(rest(walk)).to.equal('cwef');
    expect(walk.isOver).to.equal(true);
  });

  it('leaves an object that was removed while it was in it', () => {
    const { source, a, b } = tree();
    const walk = new TreeWalk(a, true);
    expect(rest(walk, 4)).to.equal('avbc');
    source.remove(b);
    walk.leave(b);
    expect(rest(walk)).to.equal('d');
  });

  it('leaves what it was to meet next, and others alone', () => {
    const { a, b, d } = tree();
    const walk = new TreeWalk(a, true);
    walk.leave(d);
    expect(rest(walk, 3)).to.equal('avb');
    walk.leave(b);
    walk.leave(a);
    expect([walk.next(), walk.isOver]).to.deep.equal([undefined, true]);
  });
});
