// Which targets are moved to even out the loads. Spec 1.10.
import { expect } from 'chai';
import fc from 'fast-check';
import { planMoves } from '#app/targets/placement.js';
import type { Loaded } from '#app/targets/placement.js';

/** Targets by their partitions: the loads of each. */
const targets = (...partitions: readonly (readonly number[])[]): Loaded[] =>
  partitions.flatMap((loads, partition) => loads.map((load) => ({ partition, load })));

const apply = (all: readonly Loaded[], partitions: number, most: number, least: number) => {
  const moves = planMoves(all, partitions, most, least);
  const after = all.map((each) => ({ ...each }));
  for (const { target, to } of moves) {
    const moved = after[target];
    if (moved !== undefined) moved.partition = to;
  }
  return { moves, after };
};
const loadsOf = (all: readonly Loaded[], partitions: number): number[] =>
  Array.from({ length: partitions }, (_, number) =>
    all.filter(({ partition }) => partition === number).reduce((sum, { load }) => sum + load, 0),
  );

describe('planMoves', () => {
  const table = [
    ['moves nothing where all is even', targets([2], [2]), 2, []],
    ['moves half of a full partition to an empty one', targets([1, 1], []), 2, [[0, 1]]],
    [
      'moves the target that fits best first',
      targets([1, 3, 2, 4], []),
      2,
      [
        [3, 1],
        [0, 1],
      ],
    ],
    ['leaves a single target alone: it would only change places', targets([9], []), 2, []],
    ['lets a heavy target not stop the others', targets([9], [3, 3], []), 3, [[1, 2]]],
    ['leaves small differences alone', targets([1, 0.1], [1]), 2, []],
    ['leaves what does nothing where it is', targets([0, 0], []), 2, []],
    ['does not relieve one that is hardly busy', targets([0.001, 0.001], []), 2, []],
  ] as const;
  for (const [sentence, all, partitions, wanted] of table)
    it(sentence, () =>
      expect(
        planMoves(all, partitions, 8, 0.01).map(({ target, to }) => [target, to]),
      ).to.deep.equal(wanted),
    );

  it('makes no more moves than it may, the most useful first', () => {
    const all = targets([1, 1, 1, 1, 4], []);
    expect(planMoves(all, 2, 1, 0)).to.deep.equal([{ target: 4, to: 1 }]);
  });

  /** Loads are whole numbers, so that sums are exact. */
  const scenes = fc.integer({ min: 1, max: 6 }).chain((partitions) =>
    fc.record({
      partitions: fc.constant(partitions),
      all: fc.array(
        fc.record({
          partition: fc.nat(partitions - 1),
          load: fc.oneof(fc.constant(0), fc.nat(1000)),
        }),
        { maxLength: 30 },
      ),
      most: fc.nat(8),
      least: fc.constantFrom(0, 10, 500),
    }),
  );

  it('never makes the fullest partition fuller, and obeys its bounds', () =>
    fc.assert(
      fc.property(scenes, ({ partitions, all, most, least }) => {
        const before = loadsOf(all, partitions);
        const { moves, after } = apply(all, partitions, most, least);
        expect(moves.length).to.be.at.most(most);
        expect(Math.max(...loadsOf(after, partitions))).to.be.at.most(Math.max(...before));
        for (const { to } of moves) expect(to).to.be.within(0, partitions - 1);
        if (Math.max(...before) < least) expect(moves).to.deep.equal([]);
      }),
    ));

  it('comes to rest: repeated with unchanged loads it moves nothing back and forth', () =>
    fc.assert(
      fc.property(scenes, ({ partitions, all, least }) => {
        let now: readonly Loaded[] = all;
        const unevenness = (loads: readonly number[]) => loads.reduce((sum, l) => sum + l * l, 0);
        for (let pass = 0; pass < 200; pass++) {
          const { moves, after } = apply(now, partitions, 8, least);
          if (moves.length === 0) return;
          expect(unevenness(loadsOf(after, partitions))).to.be.below(
            unevenness(loadsOf(now, partitions)),
          );
          now = after;
        }
        expect.fail('it still moves targets');
      }),
    ));
});
