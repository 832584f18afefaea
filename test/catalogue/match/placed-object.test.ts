import { expect } from 'chai';
import { placeUnder } from '#app/catalogue/match/rules.js';
import type { ManagedObject } from '#app/model.js';

function object(name: string, className: string, parent?: ManagedObject): ManagedObject {
  return {
    id: 0,
    name,
    className,
    parent,
    slot: 0,
    incarnation: 0,
    children: new Set(),
    variables: new Set(),
    identity: { host: '', instance: '', application: '' },
    asOf: undefined,
  };
}

describe('placeUnder', () => {
  const root = object('a.b.1.adh', 'Root');
  const far = object('a.b.1.adh.0.x.y', 'Far', root);
  const child = object('a.b.1.adh.0.x.y.z', 'Child', far);
  const stray = object('elsewhere', 'Stray', root);

  it('takes the id of the root and the dot off (design 2)', () => {
    expect(placeUnder(root, root).seedPath).to.equal('');
    expect(placeUnder(root, far).seedPath).to.equal('0.x.y');
    expect(placeUnder(root, child)).to.include({ seedPath: '0.x.y.z', className: 'Child' });
  });

  it('finds ancestors by their seed path, the root too', () => {
    const { ancestor } = placeUnder(root, child);
    expect(ancestor('0.x.y')).to.equal('Far');
    expect(ancestor('')).to.equal('Root');
    expect(ancestor('0.x')).to.equal(undefined);
    expect(ancestor('0.x.y.z')).to.equal(undefined);
  });

  it('keeps an id whole that does not begin with the id of the root', () =>
    expect(placeUnder(root, stray).seedPath).to.equal('elsewhere'));
});
