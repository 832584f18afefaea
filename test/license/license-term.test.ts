import { expect } from 'chai';
import { termOf } from '#app/license/license-term.js';
import { formatUtc } from '#app/license/utc-time.js';
import { faultOf } from './fault-of.js';

const now = new Date('2026-03-10T12:00:00.789Z');

describe('the term of a license to be issued', () => {
  const terms = [
    ['from now', { days: '30' }, '2026-03-10T12:00:00Z', '2026-04-09T12:00:00Z'],
    [
      'from a day on',
      { days: '1', issuedAt: '2020-02-28T00:00:00Z' },
      '2020-02-28T00:00:00Z',
      '2020-02-29T00:00:00Z',
    ],
    [
      'from now to a day',
      { expiresAt: '2026-04-01T00:00:00Z' },
      '2026-03-10T12:00:00Z',
      '2026-04-01T00:00:00Z',
    ],
    [
      'to a day ahead, whatever the days',
      { days: '9', expiresAt: '2026-04-01T00:00:00Z' },
      '2026-03-10T12:00:00Z',
      '2026-04-01T00:00:00Z',
    ],
    [
      'of so many days that ended',
      { days: '9', expiresAt: '2026-03-10T00:00:00Z' },
      '2026-03-01T00:00:00Z',
      '2026-03-10T00:00:00Z',
    ],
    [
      'as stated',
      { days: '9', issuedAt: '2025-01-01T00:00:00Z', expiresAt: '2025-01-02T00:00:00Z' },
      '2025-01-01T00:00:00Z',
      '2025-01-02T00:00:00Z',
    ],
  ] as const;
  for (const [name, options, issuedAt, expiresAt] of terms)
    it(`is ${name}: ${JSON.stringify(options)}`, () => {
      const term = termOf(options, now);
      expect([term.issuedAt, term.expiresAt].map(formatUtc)).to.deep.equal([issuedAt, expiresAt]);
    });

  const days = 'where 1 to 36500 is allowed';
  const iso = 'where a time in ISO 8601 and UTC such as 2026-01-31T00:00:00Z is needed';
  const refused = [
    [{}, 'Neither --days nor --expires-at says when the license ends'],
    [{ days: '0' }, `--days is "0", ${days}`],
    [{ days: '-1' }, `--days is "-1", ${days}`],
    [{ days: '1.5' }, `--days is "1.5", ${days}`],
    [{ days: '' }, `--days is "", ${days}`],
    [{ days: '36501' }, `--days is "36501", ${days}`],
    [{ days: '1e3' }, `--days is "1e3", ${days}`],
    [{ days: '1', issuedAt: 'today' }, `--issued-at is "today", ${iso}`],
    [{ expiresAt: '2026-02-30T00:00:00Z' }, `--expires-at is "2026-02-30T00:00:00Z", ${iso}`],
  ] as const;
  for (const [options, message] of refused)
    it(`is refused for ${JSON.stringify(options)}`, () =>
      expect(faultOf(() => termOf(options, now))).to.deep.equal({ code: 'USAGE', message }));
});
