// What a message on a missing name says of those that exist.
import { expect } from 'chai';
import { existingText } from '#app/shown/shown-text.js';

describe('a message on a missing name', () => {
  for (const [what, names, wanted] of [
    ['says that there is none', [], ' (there is none)'],
    ['names what there is', ['bank.1'], ' (there are: bank.1)'],
    [
      'guesses the nearest',
      ['bank.1', 'shop.2'],
      ', did you mean shop.2? (there are: shop.2, bank.1)',
    ],
    ['hides nothing in a name', ['a\u202eb'], ' (there are: "a\\u202eb")'],
  ] as const)
    it(what, () => expect(existingText('shop.1', names)).to.equal(wanted));

  it('names first what begins like the missing one', () => {
    const names = ['a.pool.1', 'shop.pool.7', 'shop.pool.8', 'sho.pool.1'];
    expect(existingText('shop.pool.12345', names)).to.equal(
      ' (there are: shop.pool.7, shop.pool.8, sho.pool.1, a.pool.1)',
    );
  });

  it('names twenty, and how many more there are', () => {
    const names = Array.from({ length: 23 }, (_, index) => `name${index}`);
    expect(existingText('shop.1', names)).to.match(/ name19 and 3 more\)$/);
  });
});
