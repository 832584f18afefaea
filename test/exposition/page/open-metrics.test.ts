// OpenMetrics 1.0: header lines, clashing names, and whole pages, checked by a strict reader.
import { expect } from 'chai';
import fc from 'fast-check';
import {
  OPEN_METRICS,
  OPEN_METRICS_CREATED,
  openMetricsFamilies,
  openMetricsHeader,
  withoutClashes,
} from '#app/exposition/page/open-metrics.js';
import { TEXT } from '#app/exposition/page/text-page.js';
import type { FamilyMetadata, InternalMetric, MetricType } from '#app/model.js';
import { internalFamilies, pageMetadata } from '#app/targets/internal-metrics.js';
import { FakeSource } from '../../support/fake-source.js';
import type { VariableOptions } from '../../support/fake-source.js';
import { FakeTarget } from '../../support/fake-target.js';
import { anyVariables, treeWith } from '../../support/any-variables.js';
import { readOpenMetrics } from '../../support/open-metrics-checker.js';
import { testView } from '../test-view.js';

const metadata = (name: string, type: MetricType, unit = '', help = 'H.'): FamilyMetadata => ({
  ...{ name, type, unit, help },
});

describe('the header of an OpenMetrics family', () => {
  const table: readonly (readonly [FamilyMetadata, string])[] = [
    [metadata('a', 'gauge'), '# TYPE a gauge\n# HELP a H.\n'],
    [metadata('a_total', 'counter'), '# TYPE a counter\n# HELP a H.\n'],
    [metadata('a_info', 'info'), '# TYPE a info\n# HELP a H.\n'],
    [metadata('a', 'stateset'), '# TYPE a stateset\n# HELP a H.\n'],
    [metadata('a', 'unknown'), '# TYPE a unknown\n# HELP a H.\n'],
    [metadata('a_s', 'summary', 's'), '# TYPE a_s summary\n# UNIT a_s s\n# HELP a_s H.\n'],
    [metadata('a_s_total', 'counter', 's'), '# TYPE a_s counter\n# UNIT a_s s\n# HELP a_s H.\n'],
    [metadata('a', 'gauge', 'seconds'), '# TYPE a gauge\n# HELP a H.\n'],
    [metadata('as', 'gauge', 's'), '# TYPE as gauge\n# HELP as H.\n'],
    [metadata('a_s_info', 'info', 's'), '# TYPE a_s info\n# HELP a_s H.\n'],
    [metadata('a', 'gauge', '', ''), '# TYPE a gauge\n# HELP a \n'],
    [metadata('a', 'gauge', '', 'A "b"\\\nc'), '# TYPE a gauge\n# HELP a A \\"b\\"\\\\\\nc\n'],
  ];
  for (const [given, header] of table)
    it(`for the metric ${given.name} (${given.type}, ${given.unit === '' ? 'no unit' : `unit ${given.unit}`}) is ${JSON.stringify(header)}`, () =>
      expect(openMetricsHeader(given)).to.equal(header));
});

describe('the unit of an OpenMetrics family', () => {
  const [a, b, c, d] = [
    metadata('a_seconds', 'gauge', 'seconds'),
    metadata('b', 'gauge'),
    metadata('c', 'gauge'),
    metadata('d_bytes_total', 'counter', 'bytes'),
  ];
  const unitLines = (families: readonly FamilyMetadata[], isFirst: boolean) =>
    openMetricsFamilies(families, isFirst)
      .map(openMetricsHeader)
      .join('')
      .split('\n')
      .filter((line) => line.startsWith('# UNIT'));

  it('is reset by an empty UNIT line if the next family has no unit', () => {
    expect(unitLines([b, a, b, c, d, a, c], true)).to.deep.equal([
      ...['# UNIT a_seconds seconds', '# UNIT b '],
      ...['# UNIT d_bytes bytes', '# UNIT a_seconds seconds', '# UNIT c '],
    ]);
  });

  it('is reset before the internal metrics', () => {
    expect(unitLines([b, c], false)).to.deep.equal(['# UNIT b ']);
  });
});

describe('the OpenMetrics types of families', () => {
  const table: readonly (readonly [string, string, string])[] = [
    ['a counter alone', 'a_total counter', 'counter'],
    ['a counter without _total', 'a counter', 'unknown'],
    ['an info metric without _info', 'a info', 'unknown'],
    [
      'a gauge with the name of a counter before its suffix',
      'a gauge, a_total counter',
      'gauge unknown',
    ],
    [
      'a counter, followed by a gauge with its name before the suffix',
      'a_total counter, a gauge',
      'unknown gauge',
    ],
    [
      'a gauge with the name of an info metric before its suffix',
      'a gauge, a_info info',
      'gauge unknown',
    ],
    ['a counter and an info metric', 'a_total counter, a_info info', 'counter unknown'],
    [
      'a gauge with the name of a creation time',
      'a_total counter, a_created gauge',
      'unknown gauge',
    ],
    [
      'a counter with the name of a histogram count',
      'a histogram, a_count_total counter',
      'histogram unknown',
    ],
    [
      'a histogram with the name of a counter before its suffix',
      'a_total counter, a histogram',
      'unknown histogram',
    ],
    ['no clash', 'a_total counter, b_total counter, a_b gauge', 'counter counter gauge'],
  ];
  for (const [what, given, wanted] of table)
    it(`are "${wanted.replaceAll(' ', ', ')}" for "${given}": ${what}`, () => {
      const families = given.split(', ').map((each) => {
        const [name = '', type] = each.split(' ');
        return metadata(name, type as MetricType);
      });
      const typed = withoutClashes(families);
      expect(typed.map(({ type }) => type).join(' ')).to.equal(wanted);
      expect(typed.map(({ name }) => name)).to.deep.equal(families.map(({ name }) => name));
      expect(withoutClashes(families)).to.deep.equal(typed);
    });
});

describe('an OpenMetrics page', () => {
  const textOf = (families: ReturnType<typeof internalFamilies>): string => {
    const target = new FakeTarget();
    const answer = target.demandAnswer();
    if (answer.kind === 'waiting') throw new Error('not ready');
    return Buffer.concat(OPEN_METRICS.page({ ...answer, internal: families }).buffers).toString();
  };

  it('has every internal metric of a target page with its type', () => {
    const metrics = pageMetadata('full').flatMap(({ name, type, help }): InternalMetric[] =>
      type === 'counter' || type === 'gauge' ? [{ name, type, help, value: 0.5 }] : [],
    );
    const read = readOpenMetrics(textOf(internalFamilies(metrics, new FakeTarget().status())));
    expect(read.slice(1).map(({ type }) => type)).to.deep.equal(
      pageMetadata('full').map(({ type }) => type),
    );
  });

  it('without a metric is valid', () => {
    const target = new FakeTarget();
    target.text = '';
    expect(readOpenMetrics(textOf([]))).to.have.lengthOf(1);
  });

  it('is valid for any variable names, and has the series lines of the text 0.0.4 page', () => {
    let clashes = 0;
    let forbidden = 0;
    fc.assert(
      fc.property(anyVariables, (variables) => {
        const { source, root } = treeWith(variables);
        const { page, render } = testView(source, root, { app: 'demo' });
        const text = page(OPEN_METRICS);
        if (render().violatesOpenMetrics) {
          forbidden++;
          return;
        }
        const read = readOpenMetrics(text);
        const { metadata: families } = render();
        expect(read.map(({ help }) => help)).to.deep.equal(families.map(({ help }) => help));
        const series = (whole: string) => whole.split('\n').filter((line) => !line.startsWith('#'));
        expect(series(text)).to.deep.equal(series(page(TEXT)));
        clashes += read.filter(({ type }, at) => type !== families[at]?.type).length;
      }),
      { numRuns: 50 },
    );
    expect(clashes).to.be.greaterThan(0);
    expect(forbidden).to.be.within(1, 200);
  });

  const ofHistogram = (schema: number[], counts: bigint[], total: number): VariableOptions => ({
    ...{ type: 'histogram', schema },
    value: { type: 'histogram', counts: BigUint64Array.from(counts), sum: total },
  });
  const ofSummary = (quantile: number, total: number): VariableOptions => ({
    ...{ type: 'summary', schema: [0.5] },
    value: { type: 'summary', count: 1n, sum: total, values: Float64Array.of(quantile) },
  });
  const offered: readonly (readonly [string, VariableOptions, boolean])[] = [
    ['a counter', { type: 'f64', kind: 'counter', value: 5 }, true],
    ['a counter below 0', { type: 'f64', kind: 'counter', value: -5 }, false],
    ['an integer counter below 0', { type: 'i64', kind: 'counter', value: -5 }, false],
    ['a counter that is NaN', { type: 'f64', kind: 'counter', value: NaN }, false],
    ['a gauge below 0', { type: 'f64', kind: 'gauge', value: -5 }, true],
    ['a histogram', ofHistogram([0, 1], [0n, 1n, 0n], 0.5), true],
    ['a histogram with a negative bound', ofHistogram([-1, 1], [0n, 1n, 0n], 0.5), false],
    ['a histogram with a negative sum', ofHistogram([0, 1], [1n, 0n, 0n], -3), false],
    ['a summary', ofSummary(3, 3), true],
    ['a summary without observations', ofSummary(NaN, 0), true],
    ['a summary with a negative quantile', ofSummary(-1, 3), false],
    ['a summary with a negative sum', ofSummary(1, -3), false],
  ];
  for (const [what, options, isOffered] of offered)
    it(`${isOffered ? 'can' : 'cannot'} show ${what}${isOffered ? '' : ': strict parsers reject it'}`, () => {
      const source = new FakeSource();
      const root = source.addObject('h.1.demo', 'C');
      source.addVariable(root, 'x', options);
      const { page, render } = testView(source, root, { app: 'demo' });
      const text = page(OPEN_METRICS);
      const status = new FakeTarget().status();
      const answer = { kind: 'ready', snapshot: render(), internal: [], status } as const;
      expect(OPEN_METRICS.accepts?.(answer)).to.equal(isOffered);
      if (isOffered) expect(() => readOpenMetrics(text)).not.to.throw();
      else expect(() => readOpenMetrics(text)).to.throw();
    });
});

describe('an OpenMetrics page with created lines', () => {
  const STARTED = 1_700_000_000_123;
  const CREATED_LINE = /^\w+_created(\{.*\})? 1700000000\.123\n/gm;
  const CREATED = { kind: 'refresh', mayRender: true, forms: ['created'] } as const;

  it('is valid for any variable names, and states the start of each counter, histogram and summary', () => {
    const shown = new Set<string>();
    fc.assert(
      fc.property(anyVariables, (variables) => {
        const { source, root } = treeWith(variables);
        source.startedUnixMs = STARTED;
        const { view, page, render } = testView(source, root, { app: 'demo' });
        view.demand(CREATED);
        const text = page(OPEN_METRICS_CREATED);
        if (render().violatesOpenMetrics) return;
        expect(text.replace(CREATED_LINE, '')).to.equal(page(OPEN_METRICS));
        for (const { name, type, samples } of readOpenMetrics(text)) {
          const of = (ending: string) => samples.filter((each) => each.name === name + ending);
          const ending = { counter: '_total', histogram: '_count', summary: '_count' }[type];
          if (ending === undefined) continue;
          shown.add(type);
          expect(of('_created').map(({ labels }) => [...labels])).to.deep.equal(
            of(ending).map(({ labels }) => [...labels]),
          );
        }
      }),
      { numRuns: 50 },
    );
    expect([...shown].sort()).to.deep.equal(['counter', 'histogram', 'summary']);
  });

  it('shows new values below the same starts, and frees its memory when it is no longer demanded', () => {
    const source = new FakeSource();
    source.startedUnixMs = STARTED;
    const root = source.addObject('h.1.demo', 'C');
    const x = source.addVariable(root, 'x', { type: 'u64', kind: 'counter', value: 5n });
    const { view, kernel, page } = testView(source, root, { app: 'demo' });
    page(OPEN_METRICS);
    const { used } = kernel.arena;
    view.demand(CREATED);
    for (const value of [6n, 7n]) {
      source.set(x, value);
      expect(page(OPEN_METRICS_CREATED)).to.contain(
        `demo_c_x_total{object="@root"} ${value}\ndemo_c_x_created{object="@root"} 1700000000.123\n`,
      );
    }
    for (let i = 0; i < 17; i++) view.demand({ ...CREATED, forms: ['text'] });
    source.set(x, 8n);
    page(OPEN_METRICS);
    expect(kernel.arena.used).to.equal(used);
  });

  it('lacks these lines if it was rendered for another format', () => {
    const source = new FakeSource();
    source.startedUnixMs = STARTED;
    const root = source.addObject('h.1.demo', 'C');
    source.addVariable(root, 'x', { type: 'u64', kind: 'counter', value: 5n });
    const { page } = testView(source, root, { app: 'demo' });
    expect(page(OPEN_METRICS_CREATED)).to.equal(page(OPEN_METRICS));
  });
});

describe('the strict reader of OpenMetrics', () => {
  const histogram =
    '# TYPE h histogram\nh_bucket{le="1"} 1\nh_bucket{le="+Inf"} 2\nh_count 2\nh_sum 3\n';
  const right = [
    ['an empty page', ''],
    [
      'a gauge with escaped labels',
      '# TYPE a gauge\n# UNIT a \n# HELP a \na 1\na{b="c"} NaN\na{b="\\n\\"\\\\,} 1"} -Inf\n',
    ],
    ['a counter with a unit', '# TYPE a_s counter\n# UNIT a_s s\na_s_total 1e+21\n'],
    ['an info metric', '# TYPE a info\na_info{b="c"} 1\n'],
    ['a state set', '# TYPE a stateset\na{a="x"} 0\na{a="y"} 1\na{a="x",b="c"} 0\n'],
    ['a summary', '# TYPE s summary\ns{quantile="0.5"} NaN\ns_sum 1\ns_count 1\n'],
    ['a histogram', histogram],
  ] as const;
  for (const [what, page] of right)
    it(`accepts ${what}`, () => {
      expect(() => readOpenMetrics(`${page}# EOF\n`)).not.to.throw();
    });

  const wrong = [
    ['a negative counter', '# TYPE a counter\na_total -1\n# EOF\n'],
    ['a negative quantile', '# TYPE s summary\ns{quantile="0.5"} -1\n# EOF\n'],
    ['a negative sum', `${histogram.replace('h_sum 3', 'h_sum -3')}# EOF\n`],
    ['a histogram sum beside a negative bound', `${histogram.replace('"1"', '"-1"')}# EOF\n`],
    ['a page without # EOF', 'a 1\n'],
    ['a second # EOF', '# EOF\n# EOF\n'],
    ['a sample without a family', 'a 1\n# EOF\n'],
    ['a comment', '# hello\n# EOF\n'],
    ['an empty line', '# TYPE a gauge\n\na 1\n# EOF\n'],
    ['the type untyped of text 0.0.4', '# TYPE a untyped\na 1\n# EOF\n'],
    ['a counter declared with its suffix', '# TYPE a_total counter\na_total 1\n# EOF\n'],
    ['an info metric declared with its suffix', '# TYPE a_info info\na_info 1\n# EOF\n'],
    ['metadata after samples', '# TYPE a gauge\na 1\n# HELP a x\n# EOF\n'],
    ['two families with the same name', '# TYPE a gauge\n# TYPE b gauge\n# TYPE a gauge\n# EOF\n'],
    [
      'a gauge with the name of a counter’s series',
      '# TYPE a counter\n# TYPE a_total gauge\n# EOF\n',
    ],
    ['a gauge with the name of a counter family', '# TYPE a gauge\n# TYPE a counter\n# EOF\n'],
    ['a gauge with the name of a histogram’s series', `${histogram}# TYPE h_count gauge\n# EOF\n`],
    ['a unit without its suffix in the name', '# TYPE a gauge\n# UNIT a s\n# EOF\n'],
    ['an info metric with a unit', '# TYPE a_s info\n# UNIT a_s s\n# EOF\n'],
    ['an unescaped quote in a help text', '# HELP a "b"\n# EOF\n'],
    ['two blanks before a value', '# TYPE a gauge\na  1\n# EOF\n'],
    ['a blank at the end of a line', '# TYPE a gauge\na 1 \n# EOF\n'],
    ['a comma after the last label', '# TYPE a gauge\na{b="c",} 1\n# EOF\n'],
    ['a repeated label', '# TYPE a gauge\na{b="c",b="d"} 1\n# EOF\n'],
    ['an unknown escape', '# TYPE a gauge\na{b="\\t"} 1\n# EOF\n'],
    ['an invalid number', '# TYPE a gauge\na 0x1\n# EOF\n'],
    ['a repeated series', '# TYPE a gauge\na{b="c",d="e"} 1\na{d="e",b="c"} 1\n# EOF\n'],
    ['an info metric with the value 2', '# TYPE a info\na_info 2\n# EOF\n'],
    ['a state without its label', '# TYPE a stateset\na{b="x"} 1\n# EOF\n'],
    ['a quantile above 1', '# TYPE s summary\ns{quantile="50"} 1\n# EOF\n'],
    [
      'a histogram without the bucket +Inf',
      '# TYPE h histogram\nh_bucket{le="1"} 1\nh_count 1\nh_sum 1\n# EOF\n',
    ],
    [
      'a histogram count that differs from the bucket +Inf',
      histogram.replace('h_count 2', 'h_count 1') + '# EOF\n',
    ],
    ['decreasing buckets', histogram.replace('"1"} 1', '"1"} 3') + '# EOF\n'],
    [
      'interleaved samples of two label sets',
      '# TYPE s summary\ns_sum{a="1"} 1\ns_sum{a="2"} 1\ns_count{a="1"} 1\n# EOF\n',
    ],
  ] as const;
  for (const [what, page] of wrong)
    it(`rejects ${what}`, () => {
      expect(() => readOpenMetrics(page)).to.throw('OpenMetrics wants');
    });
});
