// Times and counts for people.
import { expect } from 'chai';
import { ageText, agoText, countText, timeText } from '#app/shown/shown-text.js';

describe('times and counts', () => {
  for (const [seconds, wanted] of [
    [0, '0 s'],
    [0.9, '0 s'],
    [59, '59 s'],
    [60, '1 min'],
    [3700, '1 h 1 min'],
    [3600, '1 h'],
    [273_600, '3 d 4 h'],
    [400 * 86_400 * 10, '4,000 d'],
    [-1, 'in the future'],
    [NaN, 'in the future'],
  ] as const)
    it(`${seconds} seconds are ${wanted}`, () => expect(ageText(seconds)).to.equal(wanted));

  it('a moment of the past was some time ago, one of the future is not', () => {
    expect(agoText(1000, 4000)).to.equal('3 s ago');
    expect(agoText(5000, 4000)).to.equal('in the future');
  });

  it('a moment that no calendar has is a number', () => {
    expect(timeText(Date.UTC(2026, 0, 5, 8))).to.equal('2026-01-05 08:00:00Z');
    expect(timeText(1e20)).to.equal('100000000000000000000 ms');
  });

  it('numbers have groups, and nouns their number', () => {
    expect(countText(1, 'object')).to.equal('1 object');
    expect(countText(1234, 'object')).to.equal('1,234 objects');
    expect(countText(2, 'child', 'children')).to.equal('2 children');
  });
});
