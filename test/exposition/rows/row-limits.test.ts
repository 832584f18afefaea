// Limits on rows, texts and scales: the target keeps running and counts what it omits.
import { expect } from 'chai';
import { Fault } from '#app/errors.js';
import { Kernel } from '#app/exposition/wasm/kernel.js';
import { FakeSource } from '../../support/fake-source.js';
import { shopCatalogue, testView } from '../test-view.js';
import { runToEnd } from '#app/run-to-end.js';

const row = (name: string, type: string, rest: string): string =>
  `{ name = "shop_${name}", type = "${type}", help = "Help.", ${rest} },`;
const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i);

describe('a row with many series', () => {
  const schemaOf = (count: number) => {
    const source = new FakeSource();
    const root = source.addObject('h.1.shop', 'Shop');
    const counts = new BigUint64Array(count + 1).fill(1n);
    const wait = source.addVariable(root, 'wait', {
      type: 'histogram',
      schema: numbers(count),
      value: { type: 'histogram', counts, sum: 7 },
    });
    source.addVariable(root, 'next', {
      type: 'histogram',
      schema: [1],
      value: { type: 'histogram', counts: BigUint64Array.of(2n, 3n), sum: 9 },
    });
    const rows =
      row('wait', 'histogram', 'var = "wait", static = { of = "wait" }') +
      row('wait', 'histogram', 'var = "next", static = { of = "next" }');
    return {
      source,
      root,
      wait,
      counts,
      ...testView(source, root, { catalogue: shopCatalogue(rows) }),
    };
  };
  const next = [
    'shop_wait_bucket{of="next",le="1"} 2',
    'shop_wait_bucket{of="next",le="+Inf"} 5',
    'shop_wait_sum{of="next"} 9',
    'shop_wait_count{of="next"} 5',
  ];

  it('does not overwrite the next row', () => {
    const { lines, view } = schemaOf(1021);
    expect(lines()).to.have.lengthOf(1024 + next.length);
    expect(lines().slice(-4)).to.deep.equal(next);
    expect(view.counters.omittedSeries).to.equal(0);
  });

  it('is omitted as a whole and counted when its publisher states too many buckets', () => {
    const { lines, view, source, root, wait, counts } = schemaOf(1022);
    expect(lines()).to.deep.equal(next);
    expect([view.counters.omittedSeries, view.missing.omittedSeries]).to.deep.equal([1025, 1025]);
    source.set(wait, { type: 'histogram', counts: counts.fill(2n), sum: 8 });
    expect(lines()).to.deep.equal(next);
    expect([view.counters.omittedSeries, view.missing.omittedSeries]).to.deep.equal([1025, 1025]);
    source.remove(root);
    expect(lines()).to.deep.equal([]);
    expect([view.counters.omittedSeries, view.missing.omittedSeries]).to.deep.equal([1025, 0]);
  });

  const list = (count: number) => JSON.stringify(numbers(count));
  const names = (count: number) => JSON.stringify(numbers(count).map(String));
  const steps = (count: number) => JSON.stringify(numbers(count).map((each) => each / count));
  const stated: [string, (count: number) => string][] = [
    ['buckets', (n) => row('x', 'histogram', `var = "v", observe = true, buckets = ${list(n)}`)],
    ['quantiles', (n) => row('x', 'summary', `var = "v", observe = true, quantiles = ${steps(n)}`)],
    ['states', (n) => row('x', 'stateset', `var = "v", states = ${names(n)}`)],
  ];
  for (const [key, rows] of stated)
    it(`may have at most 1000 ${key} in a catalogue`, () => {
      expect(() => shopCatalogue(rows(1000))).not.to.throw();
      expect(() => shopCatalogue(rows(1001))).to.throw(
        Fault,
        `${key}: found an array of 1001, allowed: an array of 1 to 1000 `,
      );
    });
});

describe('strings in a shared frame', () => {
  it('are shown up to the size of the frame memory, and only counted beyond this size', () => {
    const source = new FakeSource();
    source.frameBytes = 100;
    const root = source.addObject('h.1.shop', 'Shop');
    const texts = numbers(5).map((i) =>
      source.addVariable(root, `t${i}`, { type: 'string', value: String(i).repeat(60) }),
    );
    const { lines, view } = testView(source, root);
    expect(lines()).to.have.lengthOf(3);
    expect([view.counters.omittedSeries, view.missing.omittedSeries]).to.deep.equal([2, 2]);
    for (const text of texts.slice(3)) source.set(text, 'y'.repeat(60));
    expect(lines()).to.have.lengthOf(3);
    expect([view.counters.omittedSeries, view.missing.omittedSeries]).to.deep.equal([2, 2]);
    for (const text of texts.slice(0, 3)) source.remove(text);
    expect(lines()).to.deep.equal([]);
    for (const text of texts.slice(3)) source.set(text, 'x'.repeat(60));
    expect(lines(), 'there is room again').to.have.lengthOf(2);
    expect([view.counters.omittedSeries, view.missing.omittedSeries]).to.deep.equal([2, 0]);
  });
});

describe('strings beyond the text limit of a target', () => {
  it('are omitted, counted and named until they fit again', () => {
    const source = new FakeSource();
    const root = source.addObject('h.1.shop', 'Shop');
    const LONG = 100_000;
    const texts = numbers(12).map((i) =>
      source.addVariable(root, `t${i}`, { type: 'string', value: String(i % 10).repeat(LONG) }),
    );
    // A character takes two bytes where it is stored and one byte in each line that shows it.
    const limits = { textBytes: 8 * LONG * 3 };
    const { lines, view, omitted } = testView(source, root, { limits });
    expect(lines().length).to.be.within(6, 8);
    expect(view.counters.omittedSeries, 'the first that was too much').to.be.at.least(1);
    expect(view.counters.omittedSeries + view.counters.omittedVariables).to.be.within(4, 6);
    expect(omitted.join(' ')).to.match(/variable t\d+ of h\.1\.shop/);
    for (const text of texts) source.remove(text);
    expect(lines()).to.deep.equal([]);
    source.addVariable(root, 'late', { type: 'string', value: 'x'.repeat(LONG) });
    expect(lines()).to.have.lengthOf(1);
  });
});

describe('a string that grows beyond the text limit of a target', () => {
  it('is omitted until it fits again, and its previous value is not shown', () => {
    const source = new FakeSource();
    const root = source.addObject('h.1.shop', 'Shop');
    const text = source.addVariable(root, 'note', { type: 'string', value: 'first' });
    const { lines, view, omitted } = testView(source, root, { limits: { textBytes: 10_000 } });
    expect(lines()).to.deep.equal(['shop_note_info{object="@root",value="first"} 1']);
    source.set(text, 'x'.repeat(10_000));
    expect(lines()).to.deep.equal([]);
    expect([view.missing.omittedSeries, omitted.length]).to.deep.equal([1, 1]);
    source.set(text, 'last');
    expect(lines()).to.deep.equal(['shop_note_info{object="@root",value="last"} 1']);
    expect(view.missing.omittedSeries).to.equal(0);
  });
});

describe('the scales of a partition', () => {
  const till = (kernel: Kernel, scales: readonly number[]) => {
    const source = new FakeSource();
    const root = source.addObject('h.1.shop', 'Shop');
    const rows = scales.map((scale) => {
      source.addVariable(root, `v${scale}`, { type: 'u64', value: 3 });
      return row(`x${scale}`, 'gauge', `var = "v${scale}", scale = ${scale}`);
    });
    return testView(source, root, { catalogue: shopCatalogue(rows.join('')), kernel });
  };
  const from = (first: number, count: number) => numbers(count).map((each) => first + each);

  it('are all applied, even the 257th scale', () => {
    const { lines } = till(new Kernel(), from(2, 600));
    expect(lines()).to.deep.equal(from(2, 600).map((scale) => `shop_x${scale} ${3 * scale}`));
  });

  it('stay when their target ends, so that the next target can use them', () => {
    const kernel = new Kernel();
    const used = numbers(3).map(() => {
      runToEnd(till(kernel, from(2, 100)).view.closing());
      return kernel.arena.used;
    });
    expect(new Set(used).size).to.equal(1);
  });

  it('are limited in number: a series with a further scale is omitted and counted', () => {
    const kernel = new Kernel();
    for (let i = 0; i < 65_535; i++)
      kernel.scales.scaledOpcode(0, { multiply: 1, divide: 1000 + i });
    const { lines, view } = till(kernel, [2, 3, 4]);
    expect(lines()).to.deep.equal(['shop_x2 6']);
    expect(view.counters.omittedSeries).to.equal(2);
  });
});
