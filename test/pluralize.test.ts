// Tests how logs and messages write numbers of things.
import { expect } from 'chai';
import { pluralize } from '#app/pluralize.js';

describe('pluralize', () => {
  const table = [
    [0, 'object', undefined, '0 objects'],
    [1, 'object', undefined, '1 object'],
    [2, 'object', undefined, '2 objects'],
    [20_000, 'object', undefined, '20000 objects'],
    [1, 'class', 'classes', '1 class'],
    [3, 'class', 'classes', '3 classes'],
  ] as const;
  for (const [count, noun, plural, text] of table)
    it(`says ${text}`, () => expect(pluralize(count, noun, plural)).to.equal(text));
});
