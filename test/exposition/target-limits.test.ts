// The most that one target may have, and what happens to the rest.
import { expect } from 'chai';
import { FakeSource } from '../support/fake-source.js';
import { watched } from './watched.js';
import type { WatchOptions } from './watched.js';

describe('the limits of a target', () => {
  /** A root, three objects below it and one below the first of these, each with two variables. */
  function scene(limits: WatchOptions['limits']) {
    const source = new FakeSource();
    const root = source.addObject('h.1.shop', '');
    const add = (name: string, parent = root) => {
      const object = source.addObject(`${parent.name}.${name}`, '', { parent });
      for (const variable of ['u', 'v'])
        source.addVariable(object, variable, { type: 'u64', value: 1 });
      return object;
    };
    const [a, b, c] = [add('a'), add('b'), add('c')];
    const below = add('below', a);
    const view = watched(source, root, { ...(limits && { limits }) });
    /** What is shown, such as `u a`. */
    const shown = () =>
      view.lines().map((line) => line.replace(/^shop_(\w)\{object="(\S+)"\} 1$/, '$1 $2'));
    return { source, add, ...{ a, b, c, below }, shown, ...view };
  }

  it('leave out no thing that fits', () => {
    const { shown, omitted, view } = scene({ objects: 5, variables: 8, series: 8 });
    expect(shown()).to.have.length(8);
    expect(omitted).to.deep.equal([]);
    expect([
      view.counters.omitted,
      view.counters.omittedObjects,
      view.counters.omittedVariables,
    ]).to.deep.equal([0, 0, 0]);
  });

  it('leave out objects beyond the limit with everything below them, and are ready without', () => {
    const { shown, omitted, view } = scene({ objects: 3 });
    expect(shown()).to.deep.equal(['u a', 'u a.below', 'v a', 'v a.below']);
    expect(omitted).to.deep.equal(['objects: object h.1.shop.b', 'objects: object h.1.shop.c']);
    expect([
      view.counters.omittedObjects,
      view.counters.omittedVariables,
      view.isSynced,
    ]).to.deep.equal([2, 0, true]);
  });

  it('leave out variables beyond the limit, and are ready without', () => {
    const { shown, omitted, view } = scene({ variables: 7 });
    expect(shown()).to.have.length(7);
    expect(omitted).to.deep.equal(['variables: variable v of h.1.shop.c']);
    expect([view.counters.omittedVariables, view.isSynced]).to.deep.equal([1, true]);
  });

  it('leave out series beyond the limit, by their number and by the bytes of their labels', () => {
    const few = scene({ series: 6 });
    expect(few.shown()).to.have.length(6);
    expect([few.view.counters.omitted, few.omitted.length]).to.deep.equal([2, 2]);
    expect(few.omitted[0]).to.match(/^series: series shop_[uv]\{object="[^"]+"\}$/);
    const short = scene({ textBytes: 100 });
    expect(short.shown().length).to.be.within(1, 7);
    expect(short.omitted[0]).to.match(/^textBytes: series shop_[uv]\{object="[^"]+"\}$/);
    expect(short.view.counters.omitted).to.equal(8 - short.shown().length);
  });

  it('count objects and variables as left out until they are removed or have room', () => {
    const { source, add, a, b, c, below, render, view } = scene({ objects: 4, variables: 5 });
    const missing = () => {
      render();
      const { omittedObjects, omittedVariables } = view.missing;
      return [omittedObjects, omittedVariables];
    };
    expect(missing()).to.deep.equal([1, 1]);
    const late = add('late');
    expect(missing()).to.deep.equal([2, 1]);
    source.remove(late);
    expect(missing()).to.deep.equal([1, 1]);
    for (const each of b.variables) source.remove(each);
    expect(missing()).to.deep.equal([1, 0]);
    for (const each of [below, a, b, c]) source.remove(each);
    expect(missing()).to.deep.equal([0, 0]);
    expect([view.counters.omittedObjects, view.counters.omittedVariables]).to.deep.equal([2, 1]);
  });

  it('count series as left out until they are removed or have room', () => {
    const { source, a, b, c, render, view } = scene({ series: 6 });
    const missing = () => {
      render();
      return view.missing.omittedSeries;
    };
    expect(missing()).to.equal(2);
    for (const each of [a, b, c]) source.remove(each);
    expect(missing()).to.equal(0);
    expect(view.counters.omitted).to.equal(2);
  });

  it('have room again when something goes', () => {
    const { source, add, a, shown, view } = scene({ objects: 3 });
    shown();
    source.remove(a);
    expect(shown()).to.deep.equal([]);
    add('late');
    expect(shown()).to.deep.equal(['u late', 'v late']);
    expect(view.counters.omittedObjects).to.equal(2);
  });
});
