import { expect } from 'chai';
import { formatUtc, parseUtc } from '#app/license/license-document.js';

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
