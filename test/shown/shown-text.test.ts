// Tests the display of texts from publishers, of times and of counts.
import { expect } from 'chai';
import fc from 'fast-check';
import {
  ageText,
  agoText,
  countText,
  existingText,
  nameText,
  quotedText,
  sentence,
  timeText,
} from '#app/shown/shown-text.js';
import { hostileText } from '../support/hostile-text.js';

/** Invisible characters, and characters that change the direction of text. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;

describe('The display of texts from publishers', () => {
  for (const [what, text, wanted] of [
    ['leaves a name with a dot unchanged', 'a.b', 'a.b'],
    ['leaves a name with single blanks unchanged', '# managed objs', '# managed objs'],
    ['leaves a name with an umlaut unchanged', 'Zürich', 'Zürich'],
    ['shows an empty name as a pair of quotes', '', '""'],
    ['quotes and escapes a name with quotes', '"a"', '"\\"a\\""'],
    ['quotes a name that begins with a blank', ' a', '" a"'],
    ['quotes a name with two adjacent blanks', 'a  b', '"a  b"'],
    ['quotes and escapes a name with a line feed', 'a\nb', '"a\\nb"'],
    ['quotes and escapes a name that changes the text direction', 'a\u202eb', '"a\\u202eb"'],
    ['quotes and escapes a name with an invisible character', 'a\u200bb', '"a\\u200bb"'],
    ['quotes and escapes a lone surrogate', '\ud800', '"\\ud800"'],
  ] as const)
    it(what, () => expect(nameText(text)).to.equal(wanted));

  it('contains no invisible characters or direction changes', () =>
    fc.assert(
      fc.property(hostileText, (text) => {
        for (const shown of [nameText(text), quotedText(text), sentence(text)])
          expect(shown).not.to.match(UNSEEN);
      }),
    ));

  it('shows different names differently', () =>
    fc.assert(
      fc.property(hostileText, hostileText, (a, b) => {
        fc.pre(a !== b);
        expect(nameText(a)).not.to.equal(nameText(b));
      }),
    ));
});

// Times and counts.
describe('The display of times and counts', () => {
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
    it(`shows an age of ${seconds} seconds as "${wanted}"`, () =>
      expect(ageText(seconds)).to.equal(wanted));

  it('shows a past time with its age, and a future time as "in the future"', () => {
    expect(agoText(1000, 4000)).to.equal('3 s ago');
    expect(agoText(5000, 4000)).to.equal('in the future');
  });

  it('shows a time beyond the range of Date in milliseconds', () => {
    expect(timeText(Date.UTC(2026, 0, 5, 8))).to.equal('2026-01-05 08:00:00Z');
    expect(timeText(1e20)).to.equal('100000000000000000000 ms');
  });

  it('shows a count with digit groups and a singular or plural noun', () => {
    expect(countText(1, 'object')).to.equal('1 object');
    expect(countText(1234, 'object')).to.equal('1,234 objects');
    expect(countText(2, 'child', 'children')).to.equal('2 children');
  });
});

// A message about a name that does not exist lists the names that do.
describe('A message about a missing name', () => {
  for (const [what, names, wanted] of [
    ['states that no name exists', [], ' (there are none)'],
    ['lists the existing names', ['bank.1'], ' (there are: bank.1)'],
    [
      'suggests the nearest name',
      ['bank.1', 'shop.2'],
      ', did you mean shop.2? (there are: shop.2, bank.1)',
    ],
    ['escapes invisible characters in a name', ['a\u202eb'], ' (there are: "a\\u202eb")'],
  ] as const)
    it(what, () => expect(existingText('shop.1', names)).to.equal(wanted));

  it('lists first the names that share the longest prefix with the missing name', () => {
    const names = ['a.pool.1', 'shop.pool.7', 'shop.pool.8', 'sho.pool.1'];
    expect(existingText('shop.pool.12345', names)).to.equal(
      ' (there are: shop.pool.7, shop.pool.8, sho.pool.1, a.pool.1)',
    );
  });

  it('lists twenty names, and the number of further names', () => {
    const names = Array.from({ length: 23 }, (_, index) => `name${index}`);
    expect(existingText('shop.1', names)).to.match(/ name19 and 3 more\)$/);
  });
});
