// What the kernel says of differences: the same as a loop over plain arrays.
import fc from 'fast-check';
import { expect } from 'chai';
import { Kernel } from '#app/exposition/kernel/kernel.js';

const kernel = new Kernel();
const { run } = kernel;

/** A place in the kernel's memory that holds these numbers. */
function u32(numbers: readonly number[]): number {
  const at = kernel.arena.take(numbers.length * 4);
  kernel.u32.set(numbers, at / 4);
  return at;
}

function u64(numbers: readonly bigint[]): number {
  const at = kernel.arena.take(numbers.length * 8);
  kernel.u64.set(numbers, at / 8);
  return at;
}

/** Cells without lines, of 16 bytes each. */
const cells = <T>(all: readonly T[], bytes: (each: T) => readonly bigint[]) =>
  u64(all.flatMap(bytes));

const u32At = (at: number, count: number) => [...kernel.u32.subarray(at / 4, at / 4 + count)];
const u64At = (at: number, count: number) => [...kernel.u64.subarray(at / 8, at / 8 + count)];

/** Two lists of one length that differ here and there. */
const pairsOf = <T>(value: fc.Arbitrary<T>, most: number) =>
  fc.array(fc.tuple(value, fc.option(value, { freq: 3 })), { maxLength: most }).map((pairs) => ({
    current: pairs.map(([now]) => now),
    incoming: pairs.map(([now, next]) => next ?? now),
  }));

const word = fc.oneof(fc.nat(3), fc.nat());
const slot = fc.oneof(fc.bigInt(0n, 3n), fc.bigInt(0n, 2n ** 64n - 1n));

describe('differences in copied values', () => {
  it('absorb stores all in their cells, and counts those that differ', () =>
    fc.assert(
      fc.property(pairsOf(slot, 200), ({ current, incoming }) => {
        const to = cells(current, (bits) => [bits, 5n]);
        const changed = run.absorb(to, u64(incoming), current.length);
        expect(changed).to.equal(incoming.filter((bits, i) => bits !== current[i]).length);
        expect(u64At(to, current.length * 2)).to.deep.equal(incoming.flatMap((bits) => [bits, 5n]));
      }),
    ));

  it('absorb leaves what is behind as it is', () => {
    const to = cells([1n, 2n, 3n], (bits) => [bits, 0n]);
    run.absorb(to, u64([4n, 5n, 6n]), 2);
    expect(u64At(to, 6)).to.deep.equal([4n, 0n, 5n, 0n, 3n, 0n]);
  });

  it('changedWords lists and stores the first of the words that differ', () =>
    fc.assert(
      fc.property(pairsOf(word, 100), fc.nat(120), ({ current, incoming }, most) => {
        const all = incoming.flatMap((each, i) => (each === current[i] ? [] : [i]));
        const wanted = all.slice(0, most);
        const to = cells(current, (each) => [9n, BigInt(each)]);
        const out = u32(Array.from({ length: 101 }, () => 7));
        const found = run.changedWords(to, u32(incoming), current.length, out, most);
        expect(u32At(out, found)).to.deep.equal(wanted);
        expect(u32At(out + found * 4, 1)).to.deep.equal([7]);
        const stored = current.map((each, i) => (wanted.includes(i) ? (incoming[i] ?? 0) : each));
        expect(u64At(to, current.length * 2)).to.deep.equal(
          stored.flatMap((each) => [9n, BigInt(each)]),
        );
      }),
    ));

  it('changedWatches lists the watches whose slot differs from what was seen last, once', () =>
    fc.assert(
      fc.property(pairsOf(slot, 60), ({ current, incoming }) => {
        const count = current.length;
        const slots = u64(incoming);
        const table = u64(current.flatMap((bits, i) => [BigInt(slots + i * 8), bits]));
        const out = kernel.arena.take(count * 4 + 4);
        const wanted = incoming.flatMap((bits, i) => (bits === current[i] ? [] : [i]));
        expect(run.changedWatches(table, count, out)).to.equal(wanted.length);
        expect(u32At(out, wanted.length)).to.deep.equal(wanted);
        expect(run.changedWatches(table, count, out)).to.equal(0);
      }),
    ));
});
