import { expect } from 'chai';
import fc from 'fast-check';
import { canonicalJson } from '#app/license/license-document.js';

describe('canonicalJson', () => {
  const forms = [
    ['null', null, 'null'],
    ['true', true, 'true'],
    ['minus zero', -0, '0'],
    ['large numbers', [1e21, 1e30, 4.5, 2e-3, 1e-27], '[1e+21,1e+30,4.5,0.002,1e-27]'],
    ['texts', '\u20ac$\u000f\nA\'B"\\\\"/', '"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"'],
    ['an empty object', {}, '{}'],
    ['nesting', { b: [{ d: 1, c: [] }], a: {} }, '{"a":{},"b":[{"c":[],"d":1}]}'],
    ['numeric names', { 10: 'a', 9: 'b' }, '{"10":"a","9":"b"}'],
    [
      'names in order of UTF-16 code units',
      { '\u20ac': 1, '\r': 2, '\ufb33': 3, '1': 4, '\ud83d\ude00': 5, '\u0080': 6, '\u00f6': 7 },
      '{"\\r":2,"1":4,"\u0080":6,"ö":7,"€":1,"😀":5,"\ufb33":3}',
    ],
  ] as const;
  for (const [name, value, form] of forms)
    it(`writes ${name}`, () => expect(canonicalJson(value)).to.equal(form));

  const uncarried = [
    ['undefined', undefined],
    ['NaN', NaN],
    ['Infinity', [Infinity]],
    ['a bigint', { a: 1n }],
    ['a function', () => 1],
    ['a Date', new Date(0)],
    ['a Map', new Map()],
    ['a hole', new Array(1)],
    ['a lone surrogate', '\ud800'],
    ['a lone surrogate in a name', { '\udc00': 1 }],
  ] as const;
  for (const [name, value] of uncarried)
    it(`refuses ${name}`, () =>
      expect(() => canonicalJson(value)).to.throw(TypeError, 'JSON cannot carry'));

  const wellFormed = fc.jsonValue({ stringUnit: 'grapheme' });

  it('loses nothing', () =>
    fc.assert(
      fc.property(wellFormed, (value) => {
        expect(JSON.parse(canonicalJson(value))).to.deep.equal(JSON.parse(JSON.stringify(value)));
      }),
    ));

  it('does not depend on the order in which members were written', () =>
    fc.assert(
      fc.property(fc.dictionary(fc.string({ unit: 'grapheme' }), wellFormed), (value) => {
        const reversed = Object.fromEntries(Object.entries(value).reverse());
        expect(canonicalJson(reversed)).to.equal(canonicalJson({ ...value }));
      }),
    ));
});
