import { expect } from 'chai';
import fc from 'fast-check';
import { conversionOf, convert } from '#app/catalogue/row.js';

describe('the conversion of a scale', () => {
  const rows = [
    [0.01, { multiply: 1, divide: 100 }],
    [0.000001, { multiply: 1, divide: 1e6 }],
    [1e-9, { multiply: 1, divide: 1e9 }],
    [0.15, { multiply: 3, divide: 20 }],
    [86400, { multiply: 86400, divide: 1 }],
    [1, { multiply: 1, divide: 1 }],
    [1e21, { multiply: 1e21, divide: 1 }],
    [1 / 3, { multiply: 1 / 3, divide: 1 }],
  ] as const;
  for (const [scale, wanted] of rows)
    it(`multiplies by ${wanted.multiply} and divides by ${wanted.divide} for the scale ${scale}`, () =>
      expect(conversionOf(scale)).to.deep.equal(wanted));

  it('is exact for decimal fractions', () => {
    fc.assert(
      fc.property(fc.maxSafeInteger(), fc.integer({ min: 0, max: 15 }), (value, places) => {
        const conversion = conversionOf(Number(`1e-${places}`));
        expect(convert(value, conversion)).to.equal(Number(`${value}e-${places}`) + 0);
      }),
    );
  });
});
