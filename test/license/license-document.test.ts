import { expect } from 'chai';
import { signedBytes } from '#app/license/license.js';
import { formatUtc, parseUtc, termOf } from '#app/license/license-document.js';
import { ISSUE } from '#app/license/options.js';
import { readCommandLine } from '#app/rules/command-line.js';
import { faultOf } from './fault-of.js';

const now = new Date('2026-03-10T12:00:00.789Z');

describe('The term of a new license', () => {
  const terms = [
    ['a number of days from now', { days: 30 }, '2026-03-10T12:00:00Z', '2026-04-09T12:00:00Z'],
    [
      'a number of days from a date',
      { days: 1, issuedAt: new Date('2020-02-28T00:00:00Z') },
      '2020-02-28T00:00:00Z',
      '2020-02-29T00:00:00Z',
    ],
    [
      'from now to a date',
      { expiresAt: new Date('2026-04-01T00:00:00Z') },
      '2026-03-10T12:00:00Z',
      '2026-04-01T00:00:00Z',
    ],
    [
      'from now to a date, even if days are given',
      { days: 9, expiresAt: new Date('2026-04-01T00:00:00Z') },
      '2026-03-10T12:00:00Z',
      '2026-04-01T00:00:00Z',
    ],
    [
      'a number of days before an end in the past',
      { days: 9, expiresAt: new Date('2026-03-10T00:00:00Z') },
      '2026-03-01T00:00:00Z',
      '2026-03-10T00:00:00Z',
    ],
    [
      'from one date to another',
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

  it('is refused without an end', () =>
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

describe('The signed bytes of a license', () => {
  const fields = { license_id: '1', licensee: 'a', product: 'b', issued_at: 'c', expires_at: 'd' };

  it('contain the keys in the order of their UTF-16 code units, and no blanks', () =>
    expect(String(signedBytes({ key_id: 'e', ...fields }))).to.equal(
      '{"expires_at":"d","issued_at":"c","key_id":"e","license_id":"1","licensee":"a","product":"b"}',
    ));

  it('contain strings in the form that RFC 8785 requires', () =>
    expect(String(signedBytes({ ...fields, key_id: '\u20ac$\u000f\nA\'B"\\\\"/' }))).to.contain(
      '"key_id":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"',
    ));
});

describe('A time in a license', () => {
  for (const text of ['2026-01-31T00:00:00Z', '2024-02-29T23:59:59Z', '2026-01-31T00:00:00.250Z'])
    it(`such as "${text}" is read and written without a change`, () => {
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
    it(`is invalid if it is ${JSON.stringify(text)}`, () =>
      expect(parseUtc(text)).to.equal(undefined));
});
