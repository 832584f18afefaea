import { expect } from 'chai';
import { formatUtc, termOf } from '#app/license/license-document.js';
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
