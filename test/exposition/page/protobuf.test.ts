// Protobuf pages, decoded with protobufjs and the public schema.
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import fc from 'fast-check';
import { PROTOBUF } from '#app/exposition/page/protobuf.js';
import { compileScope, selected } from '#app/exposition/page/scope.js';
import { TEXT } from '#app/exposition/page/text-page.js';
import type { FamilyLines, FamilyMetadata, MetricType, PageContent, Snapshot } from '#app/model.js';
import { anyVariables, treeWith } from '../../support/any-variables.js';
import { FakeSource } from '../../support/fake-source.js';
import { decodedFamilies, decodedSeries, textSeries } from '../../support/protobuf-page.js';
import type { DecodedFamily } from '../../support/protobuf-page.js';
import { piecesOf, snapshotOf } from '../../support/snapshot-of.js';
import { testView } from '../test-view.js';

const REFRESH = { kind: 'refresh', mayRender: true, forms: ['protobuf', 'text'] } as const;

const metadata = (name: string, type: MetricType, unit = '', help = 'H.'): FamilyMetadata => ({
  ...{ name, type, unit, help },
});

async function bytesOf(content: PageContent): Promise<Buffer> {
  const page = await PROTOBUF.page(content);
  const bytes = Buffer.concat(page.buffers);
  page.release();
  expect(page.bytes).to.equal(bytes.length);
  return bytes;
}

const decoded = async (
  snapshot: Snapshot,
  internal: readonly FamilyLines[] = [],
): Promise<readonly DecodedFamily[]> => decodedFamilies(await bytesOf({ snapshot, internal }));

const textOf = (snapshot: Snapshot): string =>
  Buffer.concat(TEXT.page({ snapshot, internal: [] }).buffers).toString();

/** The decoded family of a page with these lines, divided into pieces. */
async function familyOf(family: FamilyMetadata, ...pieces: string[]): Promise<DecodedFamily> {
  const [first] = await decoded(snapshotOf(piecesOf(family, pieces)));
  return first ?? expect.fail('no family');
}

describe('a protobuf page', () => {
  it('has the series, values and help texts of the text 0.0.4 page, for any tree', async () => {
    const types = new Set<string>();
    await fc.assert(
      fc.asyncProperty(anyVariables, async (variables) => {
        const { source, root } = treeWith(variables);
        const { view, render } = testView(source, root, { app: 'demo' });
        const withText = render();
        const converted = await bytesOf({ snapshot: withText, internal: [] });
        view.demand(REFRESH);
        const snapshot = render();
        const families = await decoded(snapshot);
        expect(decodedSeries(families)).to.deep.equal(textSeries(textOf(snapshot)));
        expect(decodedSeries(decodedFamilies(converted))).to.deep.equal(decodedSeries(families));
        expect(families.map(({ name, help }) => ({ name, help }))).to.deep.equal(
          snapshot.metadata.map(({ name, help }) => ({ name, help })),
        );
        for (const { type } of families) types.add(type);
      }),
      { numRuns: 100 },
    );
    expect([...types].sort()).to.deep.equal([
      ...['COUNTER', 'GAUGE', 'HISTOGRAM', 'SUMMARY', 'UNTYPED'],
    ]);
  });

  const TYPES: readonly (readonly [MetricType, string])[] = [
    ['counter', 'COUNTER'],
    ['gauge', 'GAUGE'],
    ['unknown', 'UNTYPED'],
    ['info', 'GAUGE'],
    ['stateset', 'GAUGE'],
  ];
  for (const [type, wanted] of TYPES)
    it(`shows the type ${type} as ${wanted}`, async () => {
      const { metric, ...family } = await familyOf(metadata('a', type), 'a{b="c"} 5\n');
      expect(family).to.deep.equal({ name: 'a', help: 'H.', type: wanted });
      const field = wanted.toLowerCase();
      expect(metric).to.deep.equal([{ label: [{ name: 'b', value: 'c' }], [field]: { value: 5 } }]);
    });

  const UNITS: readonly (readonly [FamilyMetadata, string | undefined])[] = [
    [metadata('a_seconds', 'gauge', 'seconds'), 'seconds'],
    [metadata('a_seconds_total', 'counter', 'seconds'), 'seconds'],
    [metadata('a_total', 'counter', 'total'), undefined],
    [metadata('a_total', 'counter', 'seconds'), undefined],
    [metadata('a', 'gauge', 'a'), undefined],
    [metadata('seconds', 'gauge', 'seconds'), undefined],
    [metadata('a_', 'gauge'), undefined],
  ];
  for (const [family, unit] of UNITS)
    it(`states the unit ${unit ?? 'not'} of ${family.name}, declared as "${family.unit}"`, async () => {
      expect((await familyOf(family, `${family.name} 1\n`)).unit).to.equal(unit);
    });

  const VALUES: readonly (readonly [string, number])[] = [
    ['0', 0],
    ['-0', -0],
    ['-7', -7],
    ['999999999999999', 999_999_999_999_999],
    ['9007199254740993', 9_007_199_254_740_992],
    ['18446744073709551615', 2 ** 64],
    ['1.5e-7', 1.5e-7],
    ['NaN', NaN],
    ['+Inf', Infinity],
    ['-Inf', -Infinity],
  ];
  for (const [text, value] of VALUES)
    it(`shows the value ${text}`, async () => {
      const { metric } = await familyOf(metadata('a', 'gauge'), `a ${text}\n`);
      expect(Object.is(metric[0]?.gauge?.value, value)).to.equal(true);
    });

  const LABELS = ['', '\\', '"', '\n', '\\n', '",b="', 'é😀', 'x'.repeat(127), 'y'.repeat(20_000)];
  for (const value of LABELS)
    it(`shows the label value ${JSON.stringify(value.slice(0, 40))} of ${value.length} characters`, async () => {
      const escaped = value.replace(/[\\"\n]/g, (c) => (c === '\n' ? '\\n' : `\\${c}`));
      const { metric } = await familyOf(metadata('a', 'gauge'), `a{l="${escaped}",m="z"} 1\n`);
      expect(metric[0]?.label).to.deep.equal([
        { name: 'l', value },
        { name: 'm', value: 'z' },
      ]);
    });

  it('joins a histogram that begins in one piece of text and ends in the next', async () => {
    const { metric } = await familyOf(
      metadata('h', 'histogram'),
      'h_bucket{a="1",le="0.5"} 1\nh_bucket{a="1",le="+Inf"} 18446744073709551615\nh_sum{a="1"} 2\n',
      'h_count{a="1"} 18446744073709551615\nh_bucket{a="2",le="+Inf"} 0\n',
      'h_sum{a="2"} 0\nh_count{a="2"} 0\n',
    );
    expect(metric).to.deep.equal([
      {
        label: [{ name: 'a', value: '1' }],
        histogram: {
          bucket: [
            { cumulative_count: '1', upper_bound: 0.5 },
            { cumulative_count: '18446744073709551615', upper_bound: Infinity },
          ],
          sample_sum: 2,
          sample_count: '18446744073709551615',
        },
      },
      {
        label: [{ name: 'a', value: '2' }],
        histogram: {
          bucket: [{ cumulative_count: '0', upper_bound: Infinity }],
          sample_sum: 0,
          sample_count: '0',
        },
      },
    ]);
  });

  it('leaves out a histogram whose sum or count a limit omits, instead of a sum of 0', async () => {
    const whole = (a: string) =>
      `h_bucket{a="${a}",le="+Inf"} 3\nh_sum{a="${a}"} 2\nh_count{a="${a}"} 3\n`;
    const { metric } = await familyOf(
      metadata('h', 'histogram'),
      whole('1') +
        whole('2').replace(/h_count.*\n/, '') +
        whole('3').replace(/h_sum.*\n/, '') +
        whole('4'),
    );
    expect(metric.map(({ label }) => label?.[0]?.value)).to.deep.equal(['1', '4']);
  });

  it('has the families of its scope, and then the internal metrics', async () => {
    const snapshot = snapshotOf([
      ...piecesOf(metadata('a', 'gauge'), ['a 1\n']),
      ...piecesOf(metadata('b', 'gauge'), ['b 2\n']),
    ]);
    const scope = compileScope({ name: 'only b', metrics: ['b'] });
    const internal = [{ metadata: metadata('own_total', 'counter'), text: 'own_total{x="y"} 3\n' }];
    const families = await decoded(selected(snapshot, scope).selection, internal);
    expect(decodedSeries(families)).to.deep.equal([
      ['b[]', '2'],
      ['own_total[["x","y"]]', '3'],
    ]);
  });

  it('without any metric is empty', async () => {
    expect(await bytesOf({ snapshot: snapshotOf([]), internal: [] })).to.have.lengthOf(0);
  });

  it('has the same bytes in gzip', async () => {
    const lines = Array.from({ length: 3000 }, (_, i) => `a{i="${i}"} ${i}\n`).join('');
    const snapshot = snapshotOf(piecesOf(metadata('a', 'gauge'), [lines]));
    const internal = [{ metadata: metadata('own', 'gauge'), text: 'own 3\n' }];
    const page = await PROTOBUF.page({ snapshot, internal });
    const gzip = (await page.gzip?.()) ?? expect.fail('no gzip');
    const bytes = await bytesOf({ snapshot, internal });
    expect(gunzipSync(Buffer.concat(gzip.buffers)).equals(bytes)).to.equal(true);
    expect(gzip.bytes).to.be.lessThan(bytes.length / 4);
  });

  it('has the values of the text page in gzip after changes of values of each type', async () => {
    const source = new FakeSource();
    const root = source.addObject('h.1.demo', 'C');
    const histogram = (n: number) => ({
      ...({
        type: 'histogram',
        counts: BigUint64Array.of(1n, BigInt(n) << 40n),
        sum: n / 7,
      } as const),
    });
    const summary = (n: number) => ({
      ...({
        type: 'summary',
        count: 2n ** 64n - 1n,
        sum: n,
        values: Float64Array.of(n / 3),
      } as const),
    });
    const objects = Array.from({ length: 300 }, (_, i) => {
      const object = source.addObject(`h.1.demo.o${i}`, 'C', { parent: root });
      return {
        u: source.addVariable(object, 'u', { type: 'u64', kind: 'counter', value: 0n }),
        i: source.addVariable(object, 'i', { type: 'i64', kind: 'gauge', value: 0n }),
        f: source.addVariable(object, 'f', { type: 'f64', kind: 'gauge', value: 0 }),
        b: source.addVariable(object, 'b', { type: 'bool', kind: 'gauge', value: false }),
        h: source.addVariable(object, 'h', { type: 'histogram', schema: [1], value: histogram(0) }),
        s: source.addVariable(object, 's', { type: 'summary', schema: [0.5], value: summary(0) }),
      };
    });
    const { view, render } = testView(source, root, { app: 'demo' });
    view.demand({ ...REFRESH, forms: ['deflated-protobuf', 'text'] });
    for (const share of [1, 3, 50, 1]) {
      for (const [n, { u, i, f, b, h, s }] of objects.entries()) {
        if (n % share !== 0) continue;
        source.set(u, 2n ** 64n - BigInt(n * share));
        source.set(i, BigInt(-n * share));
        source.set(f, n % 7 === 0 ? NaN : n / share);
        source.set(b, n % 2 === share % 2);
        source.set(h, histogram(n * share));
        source.set(s, summary(n + share));
      }
      const snapshot = render();
      expect(snapshot.lines('deflated-protobuf')).not.to.equal(undefined);
      const page = await PROTOBUF.page({ snapshot, internal: [] });
      const gzip = (await page.gzip?.()) ?? expect.fail('no gzip');
      const bytes = gunzipSync(Buffer.concat(gzip.buffers));
      expect(decodedSeries(decodedFamilies(bytes))).to.deep.equal(textSeries(textOf(snapshot)));
      page.release();
    }
  });

  it('holds its snapshot while it converts the text, and not after', async () => {
    let held = 0;
    const snapshot = snapshotOf(piecesOf(metadata('a', 'gauge'), ['a 1\n'.repeat(100_000)]), {
      hold: () => {
        held++;
        return () => held--;
      },
    });
    const page = PROTOBUF.page({ snapshot, internal: [] });
    expect(held).to.equal(1);
    await page;
    expect(held).to.equal(0);
  });

  it('lets the event loop do other work while it converts a large text', async () => {
    const texts = Array.from({ length: 20 }, () => 'a 1\n'.repeat(40_000));
    let turns = 0;
    const count = (): void => {
      turns++;
      pending = setImmediate(count);
    };
    let pending = setImmediate(count);
    await PROTOBUF.page({
      snapshot: snapshotOf(piecesOf(metadata('a', 'gauge'), texts)),
      internal: [],
    });
    clearImmediate(pending);
    expect(turns).to.be.greaterThan(10);
  });

  it('writes only the messages again whose values have changed', async () => {
    const source = new FakeSource();
    const root = source.addObject('h.1.demo', 'C');
    const variables = ['x', 'y'].flatMap((name) =>
      Array.from({ length: 3000 }, (_, i) => {
        const object = source.addObject(`h.1.demo.${name}${i}`, 'C', { parent: root });
        return source.addVariable(object, name, { type: 'u64', kind: 'counter', value: 1n });
      }),
    );
    const { view, render } = testView(source, root, { app: 'demo' });
    view.demand(REFRESH);
    const piecesOfRender = () => render().lines('protobuf') ?? expect.fail('no messages');
    const before = piecesOfRender();
    const [changed = expect.fail()] = variables;
    source.set(changed, 2n);
    const after = piecesOfRender();
    const kept = after.filter((each) => before.includes(each));
    expect(kept).not.to.have.lengthOf(0);
    expect(kept).to.have.length.below(after.length);
    const snapshot = render();
    expect(decodedSeries(await decoded(snapshot))).to.deep.equal(textSeries(textOf(snapshot)));
  });
});
