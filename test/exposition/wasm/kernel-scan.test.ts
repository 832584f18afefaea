// Tests the differences that the kernel finds in copied values, against a loop over plain arrays.
import fc from 'fast-check';
import { expect } from 'chai';
import { pluralize } from '#app/pluralize.js';
import { Kernel } from '#app/exposition/wasm/kernel.js';
import { CHANGED_WORDS_AT } from '#app/exposition/wasm/layout.js';

const kernel = new Kernel();
const { run } = kernel;

/** Copies these numbers into the kernel's memory and returns the address. */
function u32(numbers: readonly number[]): number {
  const at = kernel.arena.allocate(numbers.length * 4);
  kernel.u32.set(numbers, at / 4);
  return at;
}

function u64(numbers: readonly bigint[]): number {
  const at = kernel.arena.allocate(numbers.length * 8);
  kernel.u64.set(numbers, at / 8);
  return at;
}

/** Writes cells that have no lines. Each takes 16 bytes. */
const cells = <T>(all: readonly T[], bytes: (each: T) => readonly bigint[]) =>
  u64(all.flatMap(bytes));

const u32At = (at: number, count: number) => [...kernel.u32.subarray(at / 4, at / 4 + count)];
const u64At = (at: number, count: number) => [...kernel.u64.subarray(at / 8, at / 8 + count)];

/** Two lists of equal length that differ in some items. */
const pairsOf = <T>(value: fc.Arbitrary<T>, most: number) =>
  fc.array(fc.tuple(value, fc.option(value, { freq: 3 })), { maxLength: most }).map((pairs) => ({
    current: pairs.map(([now]) => now),
    incoming: pairs.map(([now, next]) => next ?? now),
  }));

const word = fc.oneof(fc.nat(3), fc.nat());
const slot = fc.oneof(fc.bigInt(0n, 3n), fc.bigInt(0n, 2n ** 64n - 1n));

describe('a scan of copied values', () => {
  const cell = fc.tuple(slot, word);
  type Cell = readonly [bits: bigint, word: number];
  /** The bits and the word of a cell without a line, as the kernel stores them. */
  const bytesOf = ([bits, word]: Cell) => [bits, BigInt(word)];
  const storeChanged = (to: number, incoming: readonly Cell[], count = incoming.length) => {
    const values = u64(incoming.map(([bits]) => bits));
    const words = u32([...incoming.map(([, word]) => word), 0]);
    const out = u32(Array.from({ length: count + 1 }, () => 7));
    const changed = run.storeChanged(to, values, words, count, out);
    const [found = 0] = u32At(CHANGED_WORDS_AT, 1);
    return { changed, moved: u32At(out, found), behind: u32At(out + found * 4, 1) };
  };

  it('stores and counts changed values, and lists changed words', () =>
    fc.assert(
      fc.property(pairsOf(cell, 200), ({ current, incoming }) => {
        const to = cells(current, bytesOf);
        const differs = (part: 0 | 1) => (each: Cell, i: number) =>
          each[part] !== current[i]?.[part];
        expect(storeChanged(to, incoming)).to.deep.equal({
          changed: incoming.filter((each, i) => differs(0)(each, i) || differs(1)(each, i)).length,
          moved: incoming.flatMap((each, i) => (differs(1)(each, i) ? [i] : [])),
          behind: [7],
        });
        expect(u64At(to, current.length * 2)).to.deep.equal(incoming.flatMap(bytesOf));
      }),
    ));

  for (const count of [1, 2, 3])
    it(`writes nothing beyond the ${pluralize(count, 'cell')} that it scans`, () => {
      const fresh: readonly Cell[] = [4n, 5n, 6n, 7n].map((bits) => [bits, 9]);
      const to = cells<Cell>(
        [1n, 2n, 3n, 4n].map((bits) => [bits, 8]),
        bytesOf,
      );
      storeChanged(to, fresh, count);
      expect(u64At(to, 8)).to.deep.equal([
        ...fresh.slice(0, count).flatMap(bytesOf),
        ...[1n, 2n, 3n, 4n].slice(count).flatMap((bits) => [bits, 8n]),
      ]);
    });
});
