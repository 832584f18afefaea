// Tests the fit of texts into terminal columns.
import { expect } from 'chai';
import { fittedText } from '#app/dump/watch/screen.js';

describe('fittedText', () => {
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
    it(`fits ${JSON.stringify(text)} into ${columns} columns as ${JSON.stringify(wanted)}`, () =>
      expect(fittedText(text, columns)).to.equal(wanted));
});
