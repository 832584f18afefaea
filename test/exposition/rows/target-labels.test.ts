// The labels of a target begin the labels of each of its series.
import { expect } from 'chai';
import { ObjectLabels, TargetLabels } from '#app/exposition/rows/labels.js';
import { Kernel } from '#app/exposition/wasm/kernel.js';

describe('the labels of a target', () => {
  const labels = new TargetLabels({ app: 'ads', root: 'h.1.ads' });
  const table = [
    ['', 'app="ads",root="h.1.ads"'],
    ['x="1"', 'app="ads",root="h.1.ads",x="1"'],
    ['app="mine"', 'app="ads",root="h.1.ads",exported_app="mine"'],
    ['root="a",app="b"', 'app="ads",root="h.1.ads",exported_root="a",exported_app="b"'],
    ['x="1,app=\\"y\\""', 'app="ads",root="h.1.ads",x="1,app=\\"y\\""'],
    ['x="app=",app="\\\\"', 'app="ads",root="h.1.ads",x="app=",exported_app="\\\\"'],
    [
      'app="1",exported_app="2"',
      'app="ads",root="h.1.ads",exported_exported_app="1",exported_app="2"',
    ],
    ['my_app="1"', 'app="ads",root="h.1.ads",my_app="1"'],
  ] as const;
  for (const [own, all] of table)
    it(`precede {${own}}`, () => expect(labels.before(own)).to.equal(all));

  it('are counted by name when a label was renamed', () => expect(labels.renamed).to.equal(2));

  it('leave labels as they are if the target has none', () =>
    expect(new TargetLabels().before('app="x"')).to.equal('app="x"'));

  it('rename the labels of an object and of a row together', () => {
    const kernel = new Kernel();
    for (const [object, row, all] of [
      ['exported_app="x"', 'app="y"', 'app="ads",exported_app="x",exported_exported_app="y"'],
      ['app="x"', 'exported_app="y"', 'app="ads",exported_exported_app="x",exported_app="y"'],
    ] as const) {
      const targetLabels = new TargetLabels({ app: 'ads' });
      expect(new ObjectLabels({ kernel, targetLabels }, object).textWith(row)).to.equal(all);
    }
  });

  it('are not counted if the target has none', () =>
    expect(new TargetLabels().renamed).to.equal(undefined));
});
