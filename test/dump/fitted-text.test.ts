// Texts in the columns of a terminal.
import { expect } from 'chai';
import { fittedText } from '#app/dump/watch/screen.js';

describe('a text in so many columns', () => {
  for (const [text, columns, wanted] of [
    ['abc', 5, 'abc  '],
    ['abc', 3, 'abc'],
    ['abcd', 3, 'ab…'],
    ['', 2, '  '],
    ['abc', 0, ''],
    ['日本', 4, '日本'],
    ['日本', 3, '日…'],
    ['日本語', 4, '日… '],
    ['e\u0301e\u0301', 2, 'e\u0301e\u0301'],
    ['e\u0301e\u0301e\u0301', 2, 'e\u0301…'],
    ['😀😀', 3, '😀…'],
  ] as const)
    it(`${JSON.stringify(text)} in ${columns} is ${JSON.stringify(wanted)}`, () =>
      expect(fittedText(text, columns)).to.equal(wanted));
});
