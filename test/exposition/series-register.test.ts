// Two series of one name and labels: the first stays, the others wait for it to go.
import { expect } from 'chai';
import type { FamilyFacts, MetricType } from '#app/model.js';
import { ExpositionText } from '#app/exposition/exposition-text.js';
import { Kernel } from '#app/exposition/kernel/kernel.js';
import { SeriesRegister } from '#app/exposition/series-register.js';

const facts = (name: string, type: MetricType = 'gauge'): FamilyFacts => ({
  name,
  type,
  unit: '',
  help: '',
});

function registerOf() {
  const text = new ExpositionText(new Kernel());
  const clashes: string[] = [];
  const register = new SeriesRegister(text, (series) => clashes.push(series));
  const put = (
    owner: number,
    series: string,
    value = owner,
    type: MetricType = 'gauge',
    name = series.replace(/\{.*/, ''),
  ) => {
    const line = { text: `${series} ${value}\n`, value: 0, op: 0 };
    register.put(facts(name, type), 0, { owner, sub: 0 }, line);
  };
  return {
    register,
    clashes,
    put,
    remove: (owner: number, name = 'x') => register.remove(name, { owner, sub: 0 }),
    /** The lines that are shown, without the line feeds. */
    shown: (): string[] =>
      text
        .render()
        .families.flatMap(({ pieces }) => pieces.map((piece) => Buffer.from(piece).toString()))
        .join('')
        .split('\n')
        .slice(0, -1),
  };
}

describe('the register of series', () => {
  it('the first stays when it gets another value', () => {
    const { put, shown, clashes, register } = registerOf();
    put(1, 'x{a="b"}');
    put(2, 'x{a="b"}');
    put(1, 'x{a="b"}', 10);
    put(2, 'x{a="b"}', 20);
    put(1, 'x{a="b"}', 11);
    expect(shown()).to.deep.equal(['x{a="b"} 11']);
    expect(clashes).to.deep.equal(['x{a="b"}']);
    expect(register.clashes).to.equal(1);
  });

  it('all that waited for a family of another type are shown when it goes', () => {
    const { put, remove, shown, register } = registerOf();
    put(1, 'x', 1, 'counter');
    put(2, 'x{a="b"}');
    put(3, 'x{a="c"}');
    put(4, 'x{a="c"}');
    expect(shown()).to.deep.equal(['x 1']);
    expect(register.clashes).to.equal(3);
    remove(1);
    expect(shown()).to.deep.equal(['x{a="b"} 2', 'x{a="c"} 3']);
  });

  it('one that waited for a series of another family is shown when that goes', () => {
    const { put, remove, shown } = registerOf();
    put(1, 'x_sum', 1, 'histogram', 'x');
    put(2, 'x_sum');
    expect(shown()).to.deep.equal(['x_sum 1']);
    remove(1);
    expect(shown()).to.deep.equal(['x_sum 2']);
  });
});
