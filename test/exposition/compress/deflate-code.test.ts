// Huffman codes: complete, optimal, and within the length limit.
import { expect } from 'chai';
import fc from 'fast-check';
import { codeLengths, codesOf } from '#app/exposition/compress/deflate-code.js';

const counts = fc.array(fc.oneof(fc.nat(5), fc.nat(1_000_000)), { minLength: 2, maxLength: 286 });
const costOf = (lengths: readonly number[], by: readonly number[]): number =>
  lengths.reduce((sum, length, symbol) => sum + length * (by[symbol] ?? 0), 0);

/** The cost of an optimal code without a length limit: the sum of all merges of Huffman's algorithm. */
function bestCost(by: readonly number[]): number {
  const weights = [...by];
  let cost = 0;
  while (weights.length > 1) {
    weights.sort((a, b) => b - a);
    const merged = (weights.pop() ?? 0) + (weights.pop() ?? 0);
    cost += merged;
    weights.push(merged);
  }
  return cost;
}

describe('Huffman code lengths', () => {
  it('fill the tree and obey the length limit', () =>
    fc.assert(
      fc.property(counts, fc.integer({ min: 9, max: 15 }), (by, limit) => {
        const lengths = codeLengths(by, limit);
        for (const length of lengths) expect(length).to.be.within(1, limit);
        expect(lengths.reduce((sum, length) => sum + 2 ** -length, 0)).to.equal(1);
      }),
    ));

  it('are optimal if none reaches the length limit', () =>
    fc.assert(
      fc.property(fc.array(fc.nat(1000), { minLength: 2, maxLength: 12 }), (by) => {
        // A symbol that never occurred counts as an eighth of an occurrence.
        const weights = by.map((count) => 8 * count + 1);
        expect(costOf(codeLengths(by, 15), weights)).to.equal(bestCost(weights));
      }),
    ));

  it('give a prefix-free code', () =>
    fc.assert(
      fc.property(counts, (by) => {
        const lengths = codeLengths(by, 15);
        const words = codesOf(lengths)
          .map(([bits, count]) =>
            Array.from(bits.toString(2).padStart(count, '0')).reverse().join(''),
          )
          .sort();
        words.forEach((word, i) => {
          expect(words[i + 1]?.startsWith(word) ?? false).to.equal(false);
        });
      }),
    ));
});
