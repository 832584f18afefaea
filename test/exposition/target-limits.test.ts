// The limits on objects, variables, series and text of one target.
import { expect } from 'chai';
import { FakeSource } from '../support/fake-source.js';
import { testView } from './test-view.js';
import type { TestViewOptions } from './test-view.js';

describe('the limits of a target', () => {
  /** A root with three child objects, and one object below the first of them. Each has two variables. */
  function setUp(limits: TestViewOptions['limits']) {
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
    const view = testView(source, root, { ...(limits && { limits }) });
    /** The series on the page, such as `u a`. */
    const shown = () =>
      view.lines().map((line) => line.replace(/^shop_(\w)\{object="(\S+)"\} 1$/, '$1 $2'));
    return { source, add, ...{ a, b, c, below }, shown, ...view };
  }

  it('omit nothing that fits', () => {
    const { shown, omitted, view } = setUp({ objects: 5, variables: 8, series: 8 });
    expect(shown()).to.have.length(8);
    expect(omitted).to.deep.equal([]);
    expect([
      view.counters.omittedSeries,
      view.counters.omittedObjects,
      view.counters.omittedVariables,
    ]).to.deep.equal([0, 0, 0]);
  });

  it('omit objects beyond the limit with their descendants, and let the target become ready', () => {
    const { shown, omitted, view } = setUp({ objects: 3 });
    expect(shown()).to.deep.equal(['u a', 'u a.below', 'v a', 'v a.below']);
    expect(omitted).to.deep.equal(['objects: object h.1.shop.b', 'objects: object h.1.shop.c']);
    expect([
      view.counters.omittedObjects,
      view.counters.omittedVariables,
      view.isSynced,
    ]).to.deep.equal([2, 0, true]);
  });

  it('omit variables beyond the limit, and let the target become ready', () => {
    const { shown, omitted, view } = setUp({ variables: 7 });
    expect(shown()).to.have.length(7);
    expect(omitted).to.deep.equal(['variables: variable v of h.1.shop.c']);
    expect([view.counters.omittedVariables, view.isSynced]).to.deep.equal([1, true]);
  });

  it('omit series above the limit on their number or on the bytes of their labels', () => {
    const few = setUp({ series: 6 });
    expect(few.shown()).to.have.length(6);
    expect([few.view.counters.omittedSeries, few.omitted.length]).to.deep.equal([2, 2]);
    expect(few.omitted[0]).to.match(/^series: series shop_[uv]\{object="[^"]+"\}$/);
    const short = setUp({ textBytes: 100 });
    expect(short.shown().length).to.be.within(1, 7);
    expect(short.omitted[0]).to.match(/^textBytes: series shop_[uv]\{object="[^"]+"\}$/);
    expect(short.view.counters.omittedSeries).to.equal(8 - short.shown().length);
  });

  it('count omitted objects and variables until they are removed or fit', () => {
    const { source, add, a, b, c, below, render, view } = setUp({ objects: 4, variables: 5 });
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

  it('count an omitted object or variable once, and stop counting it when it is added again and fits', () => {
    const { source, b, c, render, view } = setUp({ objects: 4, variables: 5 });
    const [omitted] = [...b.variables].slice(-1);
    const again = () => {
      render();
      view.applyChanges([{ kind: 'object-added', object: c }]);
      if (omitted !== undefined) view.applyChanges([{ kind: 'variable-added', variable: omitted }]);
      const { omittedObjects, omittedVariables } = view.missing;
      const { counters } = view;
      return [omittedObjects, omittedVariables, counters.omittedObjects, counters.omittedVariables];
    };
    expect(again()).to.deep.equal([1, 1, 1, 1]);
    expect(again()).to.deep.equal([1, 1, 1, 1]);
    for (const each of [...b.variables].slice(0, 1)) source.remove(each);
    expect(again()).to.deep.equal([1, 0, 1, 1]);
  });

  it('count omitted series until they are removed or fit', () => {
    const { source, a, b, c, render, view } = setUp({ series: 6 });
    const missing = () => {
      render();
      return view.missing.omittedSeries;
    };
    expect(missing()).to.equal(2);
    for (const each of [a, b, c]) source.remove(each);
    expect(missing()).to.equal(0);
    expect(view.counters.omittedSeries).to.equal(2);
  });

  it('count an omitted series once, even if its text changes', () => {
    const { source, a, shown, render, view } = setUp({ series: 8 });
    expect(shown()).to.have.length(8);
    const text = source.addVariable(a, 'text', { type: 'string', value: 'one' });
    const missing = () => {
      render();
      return [view.counters.omittedSeries, view.missing.omittedSeries];
    };
    expect(missing()).to.deep.equal([1, 1]);
    source.set(text, 'two');
    expect(missing()).to.deep.equal([1, 1]);
    source.remove(text);
    expect(missing()).to.deep.equal([1, 0]);
  });

  it('admit a new object once an earlier object is removed', () => {
    const { source, add, a, shown, view } = setUp({ objects: 3 });
    shown();
    source.remove(a);
    expect(shown()).to.deep.equal([]);
    add('late');
    expect(shown()).to.deep.equal(['u late', 'v late']);
    expect(view.counters.omittedObjects).to.equal(2);
  });
});
