// Texts in HTML: escaping and line breaks.
import { expect } from 'chai';
import fc from 'fast-check';
import { sentence } from '#app/shown/shown-text.js';
import { breakable, markup } from '#app/sinks/http/pages/page.js';
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
    it(`may break only after the dots of an id: ${text}`, () =>
      expect(broken(text)).to.equal(wanted));

  it('may break nowhere else, and keeps its characters', () =>
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
