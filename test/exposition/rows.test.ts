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
});
