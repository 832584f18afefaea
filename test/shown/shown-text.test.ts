// Texts of publishers for people: nothing in them hides, turns or imitates what is around.
import { expect } from 'chai';
import fc from 'fast-check';
import { nameText, quotedText, sentence } from '#app/shown/shown-text.js';
import { hostileText } from '../support/hostile-text.js';

/** Characters that a reader does not see as they are, or that turn what is around. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;

describe('texts of publishers', () => {
  for (const [text, wanted] of [
    ['a.b', 'a.b'],
    ['# managed objs', '# managed objs'],
    ['Zürich', 'Zürich'],
    ['', '""'],
    ['"a"', '"\\"a\\""'],
    [' a', '" a"'],
    ['a  b', '"a  b"'],
    ['a\nb', '"a\\nb"'],
    ['a\u202eb', '"a\\u202eb"'],
    ['a\u200bb', '"a\\u200bb"'],
    ['\ud800', '"\\ud800"'],
  ] as const)
    it(`a name ${JSON.stringify(text)} is shown as ${wanted}`, () =>
      expect(nameText(text)).to.equal(wanted));

  it('nothing hides in them or turns what is around', () =>
    fc.assert(
      fc.property(hostileText, (text) => {
        for (const shown of [nameText(text), quotedText(text), sentence(text)])
          expect(shown).not.to.match(UNSEEN);
      }),
    ));

  it('no two names look the same', () =>
    fc.assert(
      fc.property(hostileText, hostileText, (a, b) => {
        fc.pre(a !== b);
        expect(nameText(a)).not.to.equal(nameText(b));
      }),
    ));
});
