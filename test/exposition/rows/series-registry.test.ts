// SeriesRegistry: of several equal series, the first is shown, and the others wait until it is removed.
import { expect } from 'chai';
import fc from 'fast-check';
import { scalarRow } from '#app/catalogue/kinds/scalar.js';
import { UNCHANGED } from '#app/catalogue/row.js';
import type { Row } from '#app/catalogue/row.js';
import { newCounters } from '#app/exposition/counters.js';
import { Budget } from '#app/budget.js';
import { Kernel } from '#app/exposition/wasm/kernel.js';
import { StoredText } from '#app/exposition/wasm/memory.js';
import { TrackedNodes } from '#app/exposition/read/tracked-nodes.js';
import { TargetLabels } from '#app/exposition/rows/labels.js';
import { SeriesRegistry } from '#app/exposition/rows/series-registry.js';
import { DEFAULT_LIMITS, TargetUsage } from '#app/exposition/target-limits.js';
import type { TargetLimits } from '#app/exposition/target-limits.js';
import { ExpositionText } from '#app/exposition/text/exposition-text.js';
import type { MetricType } from '#app/model.js';
import { labelsPart } from '#app/exposition/text/text-syntax.js';
import { runToEnd } from '#app/run-to-end.js';
import { linesOf } from '../../support/snapshot-of.js';

const { texts } = new Kernel();

const rowOf = (name: string, type: MetricType = 'gauge'): Row =>
  scalarRow(
    {
      ...{ labels: {}, at: '', classId: undefined, isPersonal: false, where: '' },
      family: { name, type, unit: '', help: '' },
    },
    { variable: 'x', conversion: UNCHANGED, wrap32: false },
  );

function registryOf(text = new ExpositionText(new Kernel()), limits: Partial<TargetLimits> = {}) {
  const clashes: string[] = [];
  const reasons: string[] = [];
  const usage = new TargetUsage(text, new TrackedNodes(), { ...DEFAULT_LIMITS, ...limits });
  const onClash = (series: string, why: string) => {
    clashes.push(series);
    reasons.push(why);
  };
  const counters = newCounters();
  const registry = new SeriesRegistry({
    ...{ text, counters, onClash, usage },
    catalogue: undefined,
    budget: new Budget(),
    onOmitted: () => undefined,
    targetLabels: new TargetLabels(),
  });
  const put = (
    nodeId: number,
    series: string,
    value = nodeId,
    type: MetricType = 'gauge',
    name = series.replace(/\{.*/, ''),
  ) => {
    const suffix = series.replace(/\{.*/, '').slice(name.length);
    const labels = new StoredText(texts, labelsPart(series.replace(/^[^{]*\{?|\}$/g, '')));
    registry.set(rowOf(name, type), labels, nodeId, [{ suffix, labels: {}, value }], 1);
  };
  return {
    registry,
    counters,
    clashes,
    reasons,
    put,
    remove: (nodeId: number, name = 'x') => {
      registry.set(rowOf(name), new StoredText(texts, labelsPart('')), nodeId, [], 1);
    },
    /** The shown lines, without line feeds. */
    shown: (): string[] => linesOf(runToEnd(text.rendering())).split('\n').slice(0, -1),
  };
}

describe('the series registry', () => {
  it('keeps the first of two equal series if both values change', () => {
    const { put, shown, clashes, counters } = registryOf();
    put(1, 'x{a="b"}');
    put(2, 'x{a="b"}');
    put(1, 'x{a="b"}', 10);
    put(2, 'x{a="b"}', 20);
    put(1, 'x{a="b"}', 11);
    expect(shown()).to.deep.equal(['x{a="b"} 11']);
    expect(clashes).to.deep.equal(['x{a="b"}']);
    expect(counters.clashes).to.equal(1);
  });

  it('shows the waiting series of a metric once the family of another type with the same name ends', () => {
    const { put, remove, shown, registry, counters } = registryOf();
    put(1, 'x', 1, 'counter');
    put(2, 'x{a="b"}');
    put(3, 'x{a="c"}');
    put(4, 'x{a="c"}');
    expect(shown()).to.deep.equal(['x 1']);
    expect([counters.clashes, registry.clashing]).to.deep.equal([3, 3]);
    remove(1);
    expect(shown()).to.deep.equal(['x{a="b"} 2', 'x{a="c"} 3']);
    expect([counters.clashes, registry.clashing]).to.deep.equal([3, 1]);
    remove(3);
    expect([counters.clashes, registry.clashing]).to.deep.equal([3, 0]);
  });

  it('shows a clashing gauge once the histogram with the same series ends', () => {
    const { put, remove, shown } = registryOf();
    put(1, 'x_sum', 1, 'histogram', 'x');
    put(2, 'x_sum');
    expect(shown()).to.deep.equal(['x_sum 1']);
    remove(1);
    expect(shown()).to.deep.equal(['x_sum 2']);
  });

  it('shows the second of two equal series once the first ends or gets other labels', () => {
    const { put, remove, shown } = registryOf();
    for (const nodeId of [1, 2, 3]) put(nodeId, 'x{a="b"}');
    remove(1);
    expect(shown()).to.deep.equal(['x{a="b"} 2']);
    put(2, 'x{a="c"}');
    expect(shown()).to.deep.equal(['x{a="c"} 2', 'x{a="b"} 3']);
  });

  it('does not show a series that is removed while it clashes', () => {
    const { put, remove, shown } = registryOf();
    put(1, 'x');
    put(2, 'x');
    remove(2);
    remove(1);
    expect(shown()).to.deep.equal([]);
  });

  it('keeps the first type of a family, and reports a clash for a second type', () => {
    const { put, shown, clashes } = registryOf();
    put(1, 'x{a="b"}');
    put(2, 'x{a="c"}', 2, 'counter');
    expect(shown()).to.deep.equal(['x{a="b"} 1']);
    expect(clashes).to.deep.equal(['x{a="c"}']);
  });

  for (const [type, ending, taken] of [
    ['histogram', '_count', true],
    ['histogram', '_sum', true],
    ['histogram', '_bucket', true],
    ['histogram', '_created', true],
    ['histogram', '_total', false],
    ['summary', '_count', true],
    ['summary', '_sum', true],
    ['summary', '_created', true],
    ['summary', '_bucket', false],
    ['gauge', '_count', false],
  ] as const) {
    const does = taken ? 'omits' : 'shows';
    it(`${does} a metric x${ending} beside a ${type} x, and shows x${ending} after x ends`, () => {
      const { put, remove, shown, reasons } = registryOf();
      const why = `the name x${ending} belongs to the ${type} metric x`;
      put(1, 'x{a="b"}', 1, type, 'x');
      put(2, `x${ending}{a="c"}`);
      expect(shown()).to.have.lengthOf(taken ? 1 : 2);
      expect(reasons).to.deep.equal(taken ? [why] : []);
      remove(1);
      expect(shown()).to.deep.equal([`x${ending}{a="c"} 2`]);
    });

    it(`${does} a ${type} x beside a metric x${ending}, and shows x after x${ending} ends`, () => {
      const { put, remove, shown, reasons } = registryOf();
      const why = `the name x${ending} belongs to the gauge metric x${ending}`;
      put(2, `x${ending}{a="c"}`);
      put(1, 'x{a="b"}', 1, type, 'x');
      expect(shown()).to.have.lengthOf(taken ? 1 : 2);
      expect(reasons).to.deep.equal(taken ? [why] : []);
      remove(2, `x${ending}`);
      expect(shown()).to.deep.equal(['x{a="b"} 1']);
    });
  }

  it('does not report a clash for different series', () => {
    const { put, counters } = registryOf();
    for (let i = 0; i < 50_000; i++) put(i, `x{object="sink.client${i}.route"}`);
    for (let i = 0; i < 50_000; i++) put(50_000 + i, `x{object="${i % 250}.${i >> 3}.${i & 7}"}`);
    expect(counters.clashes).to.equal(0);
  });

  const series = fc.constantFrom('x{a="b"}', 'x{a="c"}', 'x{a="d"}');
  const nodeId = fc.nat(6);
  const step = fc.oneof(fc.record({ nodeId, series }), fc.record({ nodeId }));

  it('keeps shown series during random steps, shows no series twice, and lets no series wait without a reason', () =>
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const { put, remove, shown } = registryOf();
        const wanted = new Map<number, { series: string; type: MetricType }>();
        let before: string[] = [];
        for (const each of steps) {
          if ('series' in each) {
            const type = each.nodeId < 3 ? 'counter' : 'gauge';
            put(each.nodeId, each.series, each.nodeId, type);
            wanted.set(each.nodeId, { series: each.series, type });
          } else {
            remove(each.nodeId);
            wanted.delete(each.nodeId);
          }
          const now = shown();
          const isOf = (line: string, other: number) => line.endsWith(` ${other}`);
          const others = before.filter((line) => !isOf(line, each.nodeId));
          expect(now).to.include.members(others);
          const names = now.map((line) => line.split(' ')[0]);
          expect(new Set(names).size).to.equal(names.length);
          const types = new Set(
            [...wanted].flatMap(([o, { type }]) => (now.some((line) => isOf(line, o)) ? type : [])),
          );
          expect(types.size).to.be.at.most(1);
          for (const [o, { series: name, type }] of wanted)
            if (!now.some((line) => isOf(line, o)))
              expect(names.includes(name) || !types.has(type), `${name} of ${o}`).to.equal(true);
          before = now;
        }
      }),
      { numRuns: 100 },
    ));

  it('refuses names of internal metrics', () => {
    const { counters, put, shown } = registryOf();
    put(1, 'shm_exporter_internal_target_ready');
    expect([shown(), counters.omittedSeries, counters.clashes]).to.deep.equal([[], 1, 0]);
  });

  it('omits and counts series beyond two million', () => {
    class FullText extends ExpositionText {
      override get lines() {
        return 2_000_000;
      }
    }
    const { counters, put, shown } = registryOf(new FullText(new Kernel()));
    put(1, 'x');
    expect([shown(), counters.omittedSeries]).to.deep.equal([[], 1]);
  });

  it('omits and counts the series that a clash hid if they exceed the limit when the clash ends', () => {
    const { registry, counters, put, remove, shown } = registryOf(undefined, { series: 5 });
    put(0, 'x', 0, 'counter');
    for (let i = 1; i <= 10; i++) put(i, `x{a="${i}"}`);
    for (let i = 20; i < 24; i++) put(i, `y{a="${i}"}`);
    remove(0);
    expect(shown().filter((line) => line.startsWith('x'))).to.deep.equal(['x{a="1"} 1']);
    expect([counters.omittedSeries, registry.omitted]).to.deep.equal([9, 9]);
    // An omitted series is not shown when the first series is removed.
    remove(1);
    expect(shown().filter((line) => line.startsWith('x'))).to.deep.equal([]);
    put(2, 'x{a="2"}');
    expect(shown()).to.include('x{a="2"} 2');
    expect([counters.omittedSeries, registry.omitted]).to.deep.equal([9, 8]);
    for (let i = 3; i <= 10; i++) remove(i);
    expect([counters.omittedSeries, registry.omitted]).to.deep.equal([9, 0]);
  });

  it('counts an omitted series as a clash, and no longer as omitted, once its labels equal those of another series', () => {
    const { registry, put, remove, shown } = registryOf(undefined, { series: 1 });
    const counts = () => [registry.omitted, registry.clashing];
    put(1, 'x{a="1"}');
    put(2, 'x{a="2"}');
    expect(counts()).to.deep.equal([1, 0]);
    put(2, 'x{a="1"}');
    expect(counts()).to.deep.equal([0, 1]);
    remove(1);
    expect([...counts(), ...shown()]).to.deep.equal([0, 0, 'x{a="1"} 2']);
  });

  it('counts a repeatedly omitted series once', () => {
    const { registry, counters, put } = registryOf(undefined, { series: 0 });
    for (let value = 0; value < 3; value++) put(1, 'x', value);
    expect([counters.omittedSeries, registry.omitted]).to.deep.equal([1, 1]);
  });

  it('counts the omitted series after the first ten thousand as one series', () => {
    const { registry, put, remove } = registryOf(undefined, { series: 0 });
    for (let i = 0; i < 10_005; i++) put(i, `x{a="${i}"}`);
    expect(registry.omitted).to.equal(10_001);
    for (let i = 0; i < 10_005; i++) remove(i);
    expect(registry.omitted).to.equal(1);
  });

  it('counts an omitted series exactly after ten thousand others were omitted and removed', () => {
    const { registry, put, remove } = registryOf(undefined, { series: 0 });
    for (let i = 0; i < 10_005; i++) {
      put(i, `x{a="${i}"}`);
      remove(i);
    }
    expect(registry.omitted).to.equal(0);
    put(1, 'x');
    expect(registry.omitted).to.equal(1);
  });

  it('omits a series while its labels exceed the text limit', () => {
    const { counters, put, shown } = registryOf(undefined, { textBytes: 2000 });
    const labelled = (nodeId: number, length: number) => `x{a="${nodeId}${'y'.repeat(length)}"}`;
    for (let i = 0; i < 10; i++) put(i, `x{a="${i}"}`);
    put(3, labelled(3, 1500));
    put(4, labelled(4, 1500));
    put(5, labelled(5, 600));
    expect(shown()).to.have.lengthOf(8);
    expect(shown()).to.include(`${labelled(3, 1500)} 3`);
    expect(counters.omittedSeries).to.equal(2);
    put(3, 'x{a="3"}');
    put(5, labelled(5, 600));
    expect(shown()).to.have.lengthOf(9);
    expect(shown()).to.include(`${labelled(5, 600)} 5`);
    expect(counters.omittedSeries).to.equal(2);
  });

  it('lets at most ten thousand clashing series wait, and only counts further ones', () => {
    const { registry, counters, put, remove, shown } = registryOf();
    put(0, 'x', 0, 'counter');
    for (let i = 1; i <= 10_002; i++) put(i, `x{a="${i}"}`);
    expect([counters.clashes, registry.clashing]).to.deep.equal([10_002, 10_001]);
    remove(0);
    expect(shown()).to.have.lengthOf(10_000);
  });

  it('omits and counts families beyond ten thousand', () => {
    const { counters, put, shown, remove } = registryOf();
    for (let i = 0; i < 10_002; i++) put(i, `x${i}`);
    expect([shown().length, counters.omittedSeries]).to.deep.equal([10_000, 2]);
    put(20_000, 'x1{a="b"}');
    expect(shown()).to.include('x1{a="b"} 20000');
    remove(0, 'x0');
    put(10_001, 'x10001');
    expect(shown()).to.include('x10001 10001');
  });
});
