// Tests the series that catalogue rows make from the variables of one object.
import { expect } from 'chai';
import type { Frame, Variable } from '#app/model.js';
import { FakeSource } from '../../support/fake-source.js';
import type { VariableOptions } from '../../support/fake-source.js';
import { shopCatalogue, testView } from '../test-view.js';
import { runToEnd } from '#app/run-to-end.js';

const row = (name: string, type: string, rest: string): string =>
  `{ name = "shop_${name}", type = "${type}", help = "Help.", ${rest} },`;

/** A shop whose root has these variables and rows. */
function shop(rows: string, variables: Readonly<Record<string, VariableOptions>> = {}) {
  const source = new FakeSource();
  const root = source.addObject('h.1.shop', 'Shop');
  const made = Object.entries(variables).map(
    ([name, options]) => [name, source.addVariable(root, name, options)] as const,
  );
  const all = new Map<string, Variable>(made);
  const of = (name: string): Variable => {
    const variable = all.get(name);
    if (variable === undefined) throw new Error(`No variable ${name}`);
    return variable;
  };
  return { source, root, of, ...testView(source, root, { catalogue: shopCatalogue(rows) }) };
}

const histogram = (counts: readonly bigint[], sum: number): Frame => ({
  type: 'histogram',
  counts: BigUint64Array.from(counts),
  sum,
});

const summary = (count: bigint, sum: number, values: readonly number[]): Frame => ({
  type: 'summary',
  count,
  sum,
  values: Float64Array.from(values),
});

describe('a catalogue row', () => {
  it('shows a histogram with its own scale, even if another row reads the same histogram', () => {
    const { lines } = shop(
      row('wait_seconds', 'histogram', 'unit = "seconds", var = "wait", scale = 0.001') +
        row('wait_ms', 'histogram', 'var = "wait"'),
      { wait: { type: 'histogram', schema: [1, 10], value: histogram([1n, 2n, 3n], 70) } },
    );
    expect(lines()).to.deep.equal([
      'shop_wait_seconds_bucket{le="0.001"} 1',
      'shop_wait_seconds_bucket{le="0.01"} 3',
      'shop_wait_seconds_bucket{le="+Inf"} 6',
      'shop_wait_seconds_sum 0.07',
      'shop_wait_seconds_count 6',
      'shop_wait_ms_bucket{le="1"} 1',
      'shop_wait_ms_bucket{le="10"} 3',
      'shop_wait_ms_bucket{le="+Inf"} 6',
      'shop_wait_ms_sum 70',
      'shop_wait_ms_count 6',
    ]);
  });

  it('shows +Inf for a histogram bound that overflows when the scale is applied', () => {
    const { lines } = shop(row('wait', 'histogram', 'var = "wait", scale = 1e10'), {
      wait: { type: 'histogram', schema: [1, 1e300], value: histogram([1n, 2n, 4n], 5) },
    });
    expect(lines()).to.deep.equal([
      'shop_wait_bucket{le="10000000000"} 1',
      'shop_wait_bucket{le="+Inf"} 7',
      'shop_wait_sum 50000000000',
      'shop_wait_count 7',
    ]);
  });

  it('has its own series, even if another row of the same family reads the same variable', () => {
    const { lines } = shop(
      row('x', 'gauge', 'var = "v", static = { unit = "1" }') +
        row('x', 'gauge', 'var = "v", static = { unit = "2" }, scale = 2'),
      { v: { type: 'u64', value: 3 } },
    );
    expect(lines()).to.deep.equal(['shop_x{unit="1"} 3', 'shop_x{unit="2"} 6']);
  });

  it('shows a timestamp and a state that are published as numbers', () => {
    const { source, of, lines } = shop(
      row('start_time_seconds', 'gauge', 'unit = "seconds", var = "start", conv = "timestamp"') +
        row('mode', 'stateset', 'var = "mode", states = ["0", "1"]'),
      { start: { type: 'u64', value: 1_700_000_000 }, mode: { type: 'u64', value: 1 } },
    );
    const modes = (off: number, on: number) => [
      `shop_mode{shop_mode="0"} ${off}`,
      `shop_mode{shop_mode="1"} ${on}`,
    ];
    expect(lines()).to.deep.equal(['shop_start_time_seconds 1700000000', ...modes(0, 1)]);
    source.set(of('start'), 1_800_000_000);
    source.set(of('mode'), 0);
    expect(lines()).to.deep.equal(['shop_start_time_seconds 1800000000', ...modes(1, 0)]);
  });

  it('writes a number in a label exactly', () => {
    const { source, of, lines } = shop(
      row(
        'id_info',
        'info',
        'labels_from = { big = "big", low = "low", on = "on", ratio = "ratio" }',
      ),
      {
        big: { type: 'u64', value: 2n ** 64n - 1n },
        low: { type: 'i64', value: -(2n ** 63n) },
        on: { type: 'bool', value: 1 },
        ratio: { type: 'f64', value: 0.25 },
      },
    );
    const wanted = 'big="18446744073709551615",low="-9223372036854775808",on="1",ratio="0.25"';
    expect(lines()).to.deep.equal([`shop_id_info{${wanted}} 1`]);
    source.set(of('big'), 7n);
    source.setSlot(of('on'), 255n);
    expect(lines()).to.deep.equal([
      'shop_id_info{big="7",low="-9223372036854775808",on="1",ratio="0.25"} 1',
    ]);
  });

  const number = row('x', 'gauge', 'var = "v"');
  const total = row('x_total', 'counter', 'var = "v"');
  const scaled = row('x', 'gauge', 'var = "v", scale = 0.01');
  const scalars: readonly (readonly [string, string, VariableOptions, string])[] = [
    ['a u64', number, { type: 'u64', value: 2n ** 64n - 1n }, 'shop_x 18446744073709551615'],
    ['an i64', number, { type: 'i64', value: -5 }, 'shop_x -5'],
    ['an f64', number, { type: 'f64', value: 0.1 }, 'shop_x 0.1'],
    ['a bool', number, { type: 'bool', value: true }, 'shop_x 1'],
    ['a NaN', number, { type: 'f64', value: NaN }, 'shop_x NaN'],
    ['a scaled number', scaled, { type: 'u64', value: 7 }, 'shop_x 0.07'],
    ['a total', total, { type: 'u64', value: 7 }, 'shop_x_total 7'],
    [
      'a total of -1, read as an unsigned number of 32 bits',
      total,
      { type: 'i64', value: -1 },
      'shop_x_total 4294967295',
    ],
    [
      'a total of -1 with wrap32 = false',
      row('x_total', 'counter', 'var = "v", wrap32 = false'),
      { type: 'i64', value: -1 },
      'shop_x_total -1',
    ],
    [
      'a metric of type unknown',
      row('x', 'unknown', 'var = "v"'),
      { type: 'u64', value: 0 },
      'shop_x 0',
    ],
  ];
  for (const [what, rows, variable, wanted] of scalars)
    it(`shows ${wanted} for ${what}`, () => {
      const { lines, source, of } = shop(rows, { v: variable, other: { type: 'u64', value: 1 } });
      expect(lines()).to.deep.equal([wanted]);
      source.set(of('v'), 1);
      expect(lines()).to.deep.equal([
        `${wanted.split(' ')[0] ?? ''} ${rows === scaled ? 0.01 : 1}`,
      ]);
    });

  it('with a pattern shows one series per matching variable, with the matched part as a label', () => {
    const { lines, source, root } = shop(row('sent_total', 'counter', 'var = "sent.{port}"'), {
      'sent.14002': { type: 'u64', value: 1 },
      'sent.a.b "c"': { type: 'u64', value: 2 },
      'sent.': { type: 'u64', value: 3 },
    });
    expect(lines()).to.deep.equal([
      'shop_sent_total{port="14002"} 1',
      'shop_sent_total{port="a.b \\"c\\""} 2',
    ]);
    source.addVariable(root, 'sent.9', { type: 'u64', value: 4 });
    expect(lines()).to.include('shop_sent_total{port="9"} 4');
  });

  it('for the state of an object shows one series per state', () => {
    const { lines, source, root } = shop(row('state', 'stateset', 'var = "@state"'));
    const names = ['init', 'normal', 'manual_recovery', 'auto_recovery', 'dead', 'invalid'];
    const wanted = (state: string) =>
      names.map((name) => `shop_state{shop_state="${name}"} ${Number(name === state)}`);
    expect(lines()).to.deep.equal(wanted('normal'));
    source.setState(root, 'dead');
    expect(lines()).to.deep.equal(wanted('dead'));
    source.setState(root, 99n);
    expect(lines()).to.deep.equal(wanted('none'));
    source.setSynced(root, false);
    expect(lines()).to.deep.equal([]);
    source.setState(root, 'dead');
    expect(lines()).to.deep.equal([]);
    source.setSynced(root, true);
    source.setState(root, 'init');
    expect(lines()).to.deep.equal(wanted('init'));
  });

  it('of type info shows the available strings as labels, and no series if no string is available', () => {
    const { lines, source, of } = shop(
      row('build_info', 'info', 'labels_from = { version = "v", release = "r" }'),
      { v: { type: 'string', value: '1 "b"\n\\' }, r: { type: 'string' } },
    );
    expect(lines()).to.deep.equal(['shop_build_info{version="1 \\"b\\"\\n\\\\"} 1']);
    source.set(of('r'), 'fall');
    source.setSynced(of('r'), true);
    source.set(of('v'), '2');
    expect(lines()).to.deep.equal(['shop_build_info{version="2",release="fall"} 1']);
    source.setSynced(of('v'), false);
    expect(lines()).to.deep.equal(['shop_build_info{release="fall"} 1']);
    source.set(of('v'), '3');
    expect(lines()).to.deep.equal(['shop_build_info{release="fall"} 1']);
    source.set(of('r'), '');
    expect(lines()).to.deep.equal(['shop_build_info 1']);
    source.remove(of('r'));
    expect(lines()).to.deep.equal([]);
  });

  it('shows one series per state for a string that names a state', () => {
    const { lines, source, of } = shop(
      row('role', 'stateset', 'var = "role", states = ["first", "second"]'),
      { role: { type: 'string', value: 'second' } },
    );
    const wanted = (first: number, second: number) => [
      `shop_role{shop_role="first"} ${first}`,
      `shop_role{shop_role="second"} ${second}`,
    ];
    expect(lines()).to.deep.equal(wanted(0, 1));
    source.set(of('role'), 'first');
    expect(lines()).to.deep.equal(wanted(1, 0));
    source.set(of('role'), 'third');
    expect(lines()).to.deep.equal(wanted(0, 0));
  });

  it('shows a string with a time as Unix seconds, and no series for a string without a time', () => {
    const { lines, source, of } = shop(
      row('start_time_seconds', 'gauge', 'unit = "seconds", var = "t", conv = "timestamp"'),
      { t: { type: 'string', value: '2026-11-19T08:00:00Z' } },
    );
    expect(lines()).to.deep.equal(['shop_start_time_seconds 1795075200']);
    source.set(of('t'), 'version-12');
    expect(lines()).to.deep.equal([]);
    source.set(of('t'), '1700000000.5');
    expect(lines()).to.deep.equal(['shop_start_time_seconds 1700000000.5']);
  });

  it('shows a published histogram with cumulative buckets, and updates them when its frame changes', () => {
    const { lines, source, of } = shop(row('wait', 'histogram', 'var = "wait"'), {
      wait: { type: 'histogram', schema: [0.5, 1], value: histogram([1n, 0n, 2n], 9.5) },
    });
    const wanted = (half: number, one: number, all: number, sum: number) => [
      `shop_wait_bucket{le="0.5"} ${half}`,
      `shop_wait_bucket{le="1"} ${one}`,
      `shop_wait_bucket{le="+Inf"} ${all}`,
      `shop_wait_sum ${sum}`,
      `shop_wait_count ${all}`,
    ];
    expect(lines()).to.deep.equal(wanted(1, 1, 3, 9.5));
    source.set(of('wait'), histogram([1n, 4n, 2n], 12));
    expect(lines()).to.deep.equal(wanted(1, 5, 7, 12));
    source.remove(of('wait'));
    expect(lines()).to.deep.equal([]);
  });

  it('never shows decreasing histogram buckets, even if the counts overflow', () => {
    const most = 2n ** 64n - 1n;
    const { lines } = shop(row('wait', 'histogram', 'var = "wait"'), {
      wait: { type: 'histogram', schema: [0.5, 1], value: histogram([1n, most, most], 9.5) },
    });
    expect(lines()).to.deep.equal([
      'shop_wait_bucket{le="0.5"} 1',
      `shop_wait_bucket{le="1"} ${most}`,
      `shop_wait_bucket{le="+Inf"} ${most}`,
      'shop_wait_sum 9.5',
      `shop_wait_count ${most}`,
    ]);
  });

  it('applies the scale to both the quantiles and the sum of a published summary', () => {
    const { lines } = shop(row('wait_seconds', 'summary', 'var = "wait", scale = 0.001'), {
      wait: { type: 'summary', schema: [0.5, 0.99], value: summary(4n, 100, [20, NaN]) },
    });
    expect(lines()).to.deep.equal([
      'shop_wait_seconds{quantile="0.5"} 0.02',
      'shop_wait_seconds{quantile="0.99"} NaN',
      'shop_wait_seconds_sum 0.1',
      'shop_wait_seconds_count 4',
    ]);
  });

  it('of type summary shows no series for a histogram', () => {
    const { lines } = shop(row('wait', 'summary', 'var = "wait"'), {
      wait: { type: 'histogram', schema: [1], value: histogram([1n, 0n], 1) },
    });
    expect(lines()).to.deep.equal([]);
  });

  it('counts each new value of an observed variable once in a histogram', () => {
    const { lines, source, of, view, render } = shop(
      row('lag_seconds', 'histogram', 'var = "lag", observe = true, buckets = [1, 2], scale = 0.1'),
      { lag: { type: 'u64', value: 10 } },
    );
    render();
    expect(view.hasObserved).to.equal(true);
    const counted = [10, 10, 20, 30, 30, 10].map((value) => {
      source.set(of('lag'), value);
      runToEnd(view.copyingValues());
      const hasCounted = view.observe();
      runToEnd(view.rendering());
      return hasCounted;
    });
    expect(counted).to.deep.equal([true, false, true, true, false, true]);
    expect(lines()).to.deep.equal([
      'shop_lag_seconds_bucket{le="1"} 2',
      'shop_lag_seconds_bucket{le="2"} 3',
      'shop_lag_seconds_bucket{le="+Inf"} 4',
      'shop_lag_seconds_sum 7',
      'shop_lag_seconds_count 4',
    ]);
    source.setSynced(of('lag'), false);
    expect(lines()).to.deep.equal([]);
    expect(view.hasObserved).to.equal(false);
  });

  it('shows the quantiles of the last 512 values of an observed variable', () => {
    const { lines, source, of, view } = shop(
      row('lag', 'summary', 'var = "lag", observe = true, quantiles = [0, 0.5, 1]'),
      { lag: { type: 'f64', value: -1 } },
    );
    expect(lines()).to.deep.equal([
      ...['0', '0.5', '1'].map((quantile) => `shop_lag{quantile="${quantile}"} NaN`),
      ...['shop_lag_sum 0', 'shop_lag_count 0'],
    ]);
    for (let value = 1; value <= 600; value++) {
      source.set(of('lag'), value === 300 ? NaN : value);
      runToEnd(view.copyingValues());
      view.observe();
    }
    expect(lines()).to.deep.equal([
      'shop_lag{quantile="0"} 88',
      'shop_lag{quantile="0.5"} 344',
      'shop_lag{quantile="1"} 600',
      `shop_lag_sum ${(600 * 601) / 2 - 300}`,
      'shop_lag_count 599',
    ]);
  });

  it('observes a variable with its own buckets and scale, even if other rows observe it', () => {
    const observed = (name: string, rest: string) =>
      row(name, 'histogram', `var = "v", observe = true, ${rest}`);
    const { lines, view, render } = shop(
      observed('x', 'buckets = [1]') +
        observed('y', 'buckets = [8]') +
        observed('z', 'buckets = [8], scale = 2'),
      { v: { type: 'u64', value: 5 } },
    );
    render();
    view.observe();
    expect(
      lines().filter((line) => !line.includes('Inf') && !line.includes('count')),
    ).to.deep.equal([
      ...['shop_x_bucket{le="1"} 0', 'shop_x_sum 5'],
      ...['shop_y_bucket{le="8"} 1', 'shop_y_sum 5'],
      ...['shop_z_bucket{le="8"} 0', 'shop_z_sum 10'],
    ]);
  });

  it('that reads a sum and a count shows its series while both variables have values', () => {
    const { lines, source, of } = shop(
      row('trip_seconds', 'summary', 'sum_var = "s", count_var = "c", scale = 0.001'),
      { s: { type: 'u64', value: 1500 }, c: { type: 'i64' } },
    );
    expect(lines()).to.deep.equal([]);
    source.set(of('c'), -1);
    source.setSynced(of('c'), true);
    const wanted = ['shop_trip_seconds_sum 1.5', 'shop_trip_seconds_count 4294967295'];
    expect(lines()).to.deep.equal(wanted);
    source.setSynced(of('s'), false);
    expect(lines()).to.deep.equal([]);
    source.setSynced(of('s'), true);
    expect(lines()).to.deep.equal(wanted);
    source.remove(of('c'));
    expect(lines()).to.deep.equal([]);
  });

  it('shows no series for a missing, unsynced or non-numeric variable', () => {
    const rows = ['gone', 'late', 'text'].map((name) => row(name, 'gauge', `var = "${name}"`));
    const { lines } = shop(rows.join(''), {
      late: { type: 'u64' },
      text: { type: 'string', value: '7' },
    });
    expect(lines()).to.deep.equal([]);
  });

  it('keeps the last value while its frame cannot be copied consistently, and counts each failed copy', () => {
    const { lines, source, of, view } = shop(
      row('build_info', 'info', 'labels_from = { version = "v" }') +
        row('wait', 'histogram', 'var = "wait"'),
      {
        v: { type: 'string', value: '1' },
        wait: { type: 'histogram', schema: [], value: histogram([2n], 3) },
      },
    );
    source.restless.add(of('v'));
    const wait = ['shop_wait_bucket{le="+Inf"} 2', 'shop_wait_sum 3', 'shop_wait_count 2'];
    expect(lines()).to.deep.equal(wait);
    // One copy failed when the object was bound, and one at the refresh.
    expect(view.counters.staleFrames).to.equal(2);
    source.restless.clear();
    expect(lines()).to.deep.equal(['shop_build_info{version="1"} 1', ...wait]);
    source.restless.add(of('v')).add(of('wait'));
    source.set(of('v'), '2');
    source.set(of('wait'), histogram([9n], 9));
    expect(lines()).to.deep.equal(['shop_build_info{version="1"} 1', ...wait]);
    expect(view.counters.staleFrames).to.equal(4);
    source.restless.clear();
    expect(lines()).to.deep.equal([
      'shop_build_info{version="2"} 1',
      'shop_wait_bucket{le="+Inf"} 9',
      'shop_wait_sum 9',
      'shop_wait_count 9',
    ]);
    expect(view.counters.staleFrames).to.equal(4);
  });

  it('shows the newer of two variables with the same name, and the older variable after the newer is removed', () => {
    for (const value of [1, 'a'] as const) {
      const type = value === 1 ? ('u64' as const) : ('string' as const);
      const { lines, source, root } = shop(
        row('x', 'gauge', 'var = "v"') +
          row('y_info', 'info', 'labels_from = { v = "v", w = "w" }'),
        { v: { type, value } },
      );
      const first = lines();
      expect(first).to.have.lengthOf(value === 1 ? 2 : 1);
      const later = source.addVariable(root, 'v', { type: 'u64' });
      expect(lines()).to.deep.equal([]);
      source.set(later, 2);
      source.setSynced(later, true);
      expect(lines()).to.deep.equal(['shop_x 2', 'shop_y_info{v="2"} 1']);
      source.remove(later);
      expect(lines()).to.deep.equal(first);
    }
  });
});
