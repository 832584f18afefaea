// Texts of publishers in HTML: escaped, visible, and broken only where they may be.
import { expect } from 'chai';
import fc from 'fast-check';
import { markup } from '#app/sinks/http/pages/html.js';
import { ageText, agoText, countText, timeText } from '#app/sinks/http/pages/ages.js';
import { breakable, nameText, quotedText, sentence } from '#app/sinks/http/pages/shown-text.js';

/** Characters that a reader does not see as they are, or that turn what is around. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]|(?! )\p{Zs}/u;

const hostile = fc.oneof(
  fc.string({ unit: 'binary' }),
  fc.string({ unit: fc.constantFrom(...Array.from('<>&"\'`=/ .\u202e\u200b\u0000\n'), 'script') }),
);

describe('markup', () => {
  it('escapes what is no markup, and takes what is', () =>
    expect(
      markup`<p title="${'"a"'}">${'<b>'} ${markup`<b>${'&'}</b>`} ${1}${undefined}</p>`.text,
    ).to.equal('<p title="&#34;a&#34;">&#60;b&#62; <b>&#38;</b> 1</p>'));

  it('joins lists', () =>
    expect(markup`${['<', markup`<i>`, ['>']]}`.text).to.equal('&#60;<i>&#62;'));

  it('leaves no character of a value that could end a text or an attribute', () =>
    fc.assert(
      fc.property(hostile, (text) => {
        const { text: made } = markup`${text}`;
        expect(made).not.to.match(/[<>"'`]/);
        expect(made.replace(/&#\d+;/g, '')).not.to.contain('&');
        expect(made.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))).to.equal(
          text,
        );
      }),
    ));
});

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
      fc.property(hostile, (text) => {
        for (const shown of [nameText(text), quotedText(text), sentence(text)])
          expect(shown).not.to.match(UNSEEN);
      }),
    ));

  it('no two names look the same', () =>
    fc.assert(
      fc.property(hostile, hostile, (a, b) => {
        fc.pre(a !== b);
        expect(nameText(a)).not.to.equal(nameText(b));
      }),
    ));

  const broken = (text: string) => markup`${breakable(text)}`.text;
  for (const [text, wanted] of [
    ['host.1.ads.userDatabase', 'host.<wbr>1.<wbr>ads.<wbr>userDatabase'],
    ['object host.ads is gone', 'object host.<wbr>ads is gone'],
    ['no root. None fits', 'no root. None fits'],
    ['for 1.5 s', 'for 1.5 s'],
    ['x'.repeat(99), 'x'.repeat(99)],
    ['a...', 'a...'],
    ['live-thing.x', '<span class="whole">live-thing.</span><wbr>x'],
    ['a/b c', '<span class="whole">a/b </span>c'],
    ['<'.repeat(3), '<span class="whole">&#60;&#60;&#60;</span>'],
  ] as const)
    it(`${text} breaks after the dots of an id only`, () => expect(broken(text)).to.equal(wanted));

  it('break nowhere else, and stay what they are', () =>
    fc.assert(
      fc.property(hostile, (text) => {
        const shown = sentence(text);
        const plain = broken(shown)
          .replaceAll(/<wbr>|<span class="whole">|<\/span>/g, '')
          .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
        expect(plain).to.equal(shown);
      }),
    ));
});

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
