import { expect } from 'chai';
import fc from 'fast-check';
import { canonicalJson, formatUtc, parseUtc, termOf } from '#app/license/license-document.js';
import { ISSUE } from '#app/license/options.js';
import { readCommandLine } from '#app/rules/command-line.js';
import { faultOf } from './fault-of.js';

const now = new Date('2026-03-10T12:00:00.789Z');

describe('the term of a license to be issued', () => {
  const terms = [
    ['from now', { days: 30 }, '2026-03-10T12:00:00Z', '2026-04-09T12:00:00Z'],
    [
      'from a day on',
      { days: 1, issuedAt: new Date('2020-02-28T00:00:00Z') },
      '2020-02-28T00:00:00Z',
      '2020-02-29T00:00:00Z',
    ],
    [
      'from now to a day',
      { expiresAt: new Date('2026-04-01T00:00:00Z') },
      '2026-03-10T12:00:00Z',
      '2026-04-01T00:00:00Z',
    ],
    [
      'to a day ahead, whatever the days',
      { days: 9, expiresAt: new Date('2026-04-01T00:00:00Z') },
      '2026-03-10T12:00:00Z',
      '2026-04-01T00:00:00Z',
    ],
    [
      'of so many days that ended',
      { days: 9, expiresAt: new Date('2026-03-10T00:00:00Z') },
      '2026-03-01T00:00:00Z',
      '2026-03-10T00:00:00Z',
    ],
    [
      'as stated',
      {
        days: 9,
        issuedAt: new Date('2025-01-01T00:00:00Z'),
        expiresAt: new Date('2025-01-02T00:00:00Z'),
      },
      '2025-01-01T00:00:00Z',
      '2025-01-02T00:00:00Z',
    ],
  ] as const;
  for (const [name, options, issuedAt, expiresAt] of terms)
    it(`is ${name}: ${JSON.stringify(options)}`, () => {
      const term = termOf(options, now);
      expect([term.issuedAt, term.expiresAt].map(formatUtc)).to.deep.equal([issuedAt, expiresAt]);
    });

  it('is refused where nothing says when it ends', () =>
    expect(faultOf(() => termOf({}, now))).to.deep.equal({
      code: 'USAGE',
      message: 'found neither --days nor --expires-at, needed: one of them',
    }));

  const iso = 'allowed: a time in ISO 8601 and UTC such as 2026-01-31T00:00:00Z';
  const number = 'allowed: an integer from 1 to 36500';
  const refused = [
    ['--days', '0', `found 0, ${number}`],
    ['--days', '-1', `found -1, ${number}`],
    ['--days', '1.5', `found "1.5", ${number}`],
    ['--days', '', `found "", ${number}`],
    ['--days', '36501', `found 36501, ${number}`],
    ['--days', '1e3', `found "1e3", ${number}`],
    ['--issued-at', 'today', `found "today", ${iso}`],
    ['--expires-at', '2026-02-30T00:00:00Z', `found "2026-02-30T00:00:00Z", ${iso}`],
  ] as const;
  for (const [option, text, found] of refused)
    it(`is refused for ${option}=${text}`, () => {
      const argv = ['--licensee', 'A', '--out', 'l', `${option}=${text}`];
      expect(faultOf(() => readCommandLine(ISSUE, argv, '1'))).to.deep.equal({
        code: 'USAGE',
        message: `${option}: ${found}`,
      });
    });
});

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

describe('a time of a license', () => {
  for (const text of ['2026-01-31T00:00:00Z', '2024-02-29T23:59:59Z', '2026-01-31T00:00:00.250Z'])
    it(`${text} is read and written alike`, () => {
      const time = parseUtc(text);
      expect(time?.toISOString()).to.equal(
        text.replace(/:00Z|:59Z/, (s) => s.replace('Z', '.000Z')),
      );
      expect(formatUtc(time ?? new Date(0))).to.equal(text);
    });

  const others = [
    '',
    '2026-01-31',
    '2026-01-31T00:00Z',
    '2026-01-31T00:00:00',
    '2026-01-31T00:00:00+00:00',
    '2026-01-31 00:00:00Z',
    '2026-01-31T00:00:00z',
    '2026-02-30T00:00:00Z',
    '2026-13-01T00:00:00Z',
    '2026-01-31T24:00:00Z',
    '2026-01-31T00:00:60Z',
    ' 2026-01-31T00:00:00Z',
    '2026-01-31T00:00:00Z\n',
    '1769817600',
  ];
  for (const text of others)
    it(`${JSON.stringify(text)} is none`, () => expect(parseUtc(text)).to.equal(undefined));
});
