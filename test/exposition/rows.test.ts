// What the rows of a catalogue make of the values of one object.
import { expect } from 'chai';
import type { Frame, Variable } from '#app/model.js';
import { FakeSource } from '../support/fake-source.js';
import type { VariableOptions } from '../support/fake-source.js';
import { shopCatalogue, watched } from './watched.js';

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
  return { source, root, of, ...watched(source, root, { catalogue: shopCatalogue(rows) }) };
}

const histogram = (counts: readonly bigint[], sum: number): Frame => ({
  type: 'histogram',
  counts: BigUint64Array.from(counts),
  sum,
});

describe('rows over values', () => {
  it('a distribution is shown by each row that reads it, with its own scale', () => {
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

  it('a time and a state that are published as numbers follow their variables', () => {
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

  it('a number in a label is written exactly', () => {
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
});
