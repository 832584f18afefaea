import { expect } from 'chai';
import { vendorType } from '#app/simulator/component/served-tree.js';

describe('the vendor type', () => {
  const table = [
    ['u64', 'counter', 0n, 'Counter'],
    ['i64', 'counter', 0n, 'Counter'],
    ['u64', 'gauge', 2n ** 64n - 1n, 'Gauge'],
    ['i64', 'gauge', -1n, 'Gauge'],
    ['i64', 'unknown', undefined, 'Numeric'],
    ['i64', 'unknown', -(2n ** 31n), 'Numeric'],
    ['i64', 'unknown', -(2n ** 31n) - 1n, 'Large Numeric'],
    ['u64', 'unknown', 2n ** 31n - 1n, 'Numeric'],
    ['u64', 'unknown', 2n ** 31n, 'Large Numeric'],
    ['bool', 'unknown', true, 'Boolean'],
    ['bool', 'gauge', true, 'Boolean'],
    ['string', 'unknown', 'x', 'String'],
    ['f64', 'unknown', 0.5, 'Floating'],
    ['f64', 'counter', 0.5, 'Floating'],
    ['histogram', 'unknown', undefined, undefined],
    ['summary', 'unknown', undefined, undefined],
  ] as const;
  for (const [type, kind, value, expected] of table)
    it(`of ${type} ${kind} ${value ?? 'without a value'} is ${expected ?? 'none'}`, () =>
      expect(vendorType(type, kind, value)).to.equal(expected));
});
