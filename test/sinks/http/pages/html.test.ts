// Texts in HTML: escaping and line breaks.
import { expect } from 'chai';
import fc from 'fast-check';
import { sentence } from '#app/shown/shown-text.js';
import { breakable, markup } from '#app/sinks/http/pages/html.js';
import { hostileText } from '../../../support/hostile-text.js';

describe('markup', () => {
  it('escapes texts, and inserts markup unchanged', () =>
    expect(
      markup`<p title="${'"a"'}">${'<b>'} ${markup`<b>${'&'}</b>`} ${1}${undefined}</p>`.text,
    ).to.equal('<p title="&#34;a&#34;">&#60;b&#62; <b>&#38;</b> 1</p>'));

  it('joins lists', () =>
    expect(markup`${['<', markup`<i>`, ['>']]}`.text).to.equal('&#60;<i>&#62;'));

  it('escapes every character that could end a text or an attribute', () =>
    fc.assert(
      fc.property(hostileText, (text) => {
        const { text: made } = markup`${text}`;
        expect(made).not.to.match(/[<>"'`]/);
        expect(made.replace(/&#\d+;/g, '')).not.to.contain('&');
        expect(made.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)))).to.equal(
          text,
        );
      }),
    ));
});

describe('a breakable text', () => {
  const broken = (text: string) => markup`${breakable(text)}`.text;
  for (const [what, text, wanted] of [
    [
      'breaks only after the dots of an id',
      'host.1.ads.userDatabase',
      'host.<wbr>1.<wbr>ads.<wbr>userDatabase',
    ],
    [
      'breaks only after the dots of an id in a sentence',
      'object host.ads is gone',
      'object host.<wbr>ads is gone',
    ],
    ['does not break after a full stop', 'no root. None fits', 'no root. None fits'],
    ['does not break within a decimal number', 'for 1.5 s', 'for 1.5 s'],
    ['does not break within a long word', 'x'.repeat(99), 'x'.repeat(99)],
    ['does not break after dots at its end', 'a...', 'a...'],
    [
      'breaks after a dot, but not after a hyphen',
      'live-thing.x',
      '<span class="whole">live-thing.</span><wbr>x',
    ],
    ['does not break after a slash', 'a/b c', '<span class="whole">a/b </span>c'],
    [
      'does not break between escaped characters',
      '<'.repeat(3),
      '<span class="whole">&#60;&#60;&#60;</span>',
    ],
  ] as const)
    it(what, () => expect(broken(text)).to.equal(wanted));

  it('keeps its characters', () =>
    fc.assert(
      fc.property(hostileText, (text) => {
        const shown = sentence(text);
        const plain = broken(shown)
          .replaceAll(/<wbr>|<span class="whole">|<\/span>/g, '')
          .replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));
        expect(plain).to.equal(shown);
      }),
    ));
});
