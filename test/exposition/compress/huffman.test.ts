// Huffman codes: complete, optimal, and within the length limit.
import { expect } from 'chai';
import fc from 'fast-check';
import { codeBits, codeLengths } from '#app/exposition/compress/huffman.js';

const counts = fc.array(fc.oneof(fc.nat(5), fc.nat(1_000_000)), { minLength: 2, maxLength: 286 });
const costOf = (lengths: readonly number[], by: readonly number[]): number =>
  lengths.reduce((sum, length, symbol) => sum + length * (by[symbol] ?? 0), 0);

/** The cost of an optimal code without a length limit: the sum of all merges of Huffman's algorithm. */
function bestCost(by: readonly number[]): number {
  const weights = by.filter((count) => count > 0);
  let cost = weights.length === 1 ? (weights[0] ?? 0) : 0;
  while (weights.length > 1) {
    weights.sort((a, b) => b - a);
    const merged = (weights.pop() ?? 0) + (weights.pop() ?? 0);
    cost += merged;
    weights.push(merged);
  }
  return cost;
}

describe('Huffman code lengths', () => {
  it('fill the tree, omit unused symbols, and obey the length limit', () =>
    fc.assert(
      fc.property(counts, fc.integer({ min: 9, max: 15 }), (by, limit) => {
        const lengths = codeLengths(by, limit);
        lengths.forEach((length, symbol) => {
          expect(length > 0).to.equal((by[symbol] ?? 0) > 0);
          expect(length).to.be.at.most(limit);
        });
        const used = lengths.filter((length) => length > 0);
        const filled = used.reduce((sum, length) => sum + 2 ** -length, 0);
        expect(filled).to.equal(used.length > 1 ? 1 : used.length / 2);
      }),
    ));

  it('are optimal if none reaches the length limit', () =>
    fc.assert(
      fc.property(fc.array(fc.nat(1000), { minLength: 2, maxLength: 12 }), (by) => {
        expect(costOf(codeLengths(by, 15), by)).to.equal(bestCost(by));
      }),
    ));

  it('give a prefix-free code', () =>
    fc.assert(
      fc.property(counts, (by) => {
        const lengths = codeLengths(by, 15);
        const words = codeBits(lengths)
          .map((bits, symbol) =>
            Array.from(bits.toString(2).padStart(lengths[symbol] ?? 0, '0'))
              .reverse()
              .join(''),
          )
          .filter((_, symbol) => (lengths[symbol] ?? 0) > 0)
          .sort();
        words.forEach((word, i) => {
          expect(words[i + 1]?.startsWith(word) ?? false).to.equal(false);
        });
      }),
    ));
});
