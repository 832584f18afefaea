// Tests the moves of targets that balance the loads of partitions. Spec 1.10.
import { expect } from 'chai';
import fc from 'fast-check';
import { planMoves } from '#app/targets/placement.js';
import type { TargetLoad } from '#app/targets/placement.js';

/** Creates targets from the loads in each partition. */
const targets = (...partitions: readonly (readonly number[])[]): TargetLoad[] =>
  partitions.flatMap((loads, partition) => loads.map((load) => ({ partition, load })));

const apply = (all: readonly TargetLoad[], partitions: number, most: number, least: number) => {
  const moves = planMoves(all, partitions, most, least);
  const after = all.map((each) => ({ ...each }));
  for (const { target, to } of moves) {
    const moved = after[target];
    if (moved !== undefined) moved.partition = to;
  }
  return { moves, after };
};
const loadsOf = (all: readonly TargetLoad[], partitions: number): number[] =>
  Array.from({ length: partitions }, (_, number) =>
    all.filter(({ partition }) => partition === number).reduce((sum, { load }) => sum + load, 0),
  );

describe('the balancer', () => {
  const table = [
    ['moves nothing if all loads are equal', targets([2], [2]), 2, []],
    [
      'moves half of the targets of a full partition to an empty one',
      targets([1, 1], []),
      2,
      [[0, 1]],
    ],
    [
      'first makes the move after which the loads are most equal',
      targets([1, 3, 2, 4], []),
      2,
      [
        [3, 1],
        [0, 1],
      ],
    ],
    ['does not move the only target', targets([9], []), 2, []],
    [
      'moves small targets even if the large target of the busiest partition cannot move',
      targets([9], [3, 3], []),
      3,
      [[1, 2]],
    ],
    ['ignores small differences', targets([1, 0.1], [1]), 2, []],
    ['does not move idle targets', targets([0, 0], []), 2, []],
    [
      'does not reduce the load of a partition below the minimum',
      targets([0.001, 0.001], []),
      2,
      [],
    ],
  ] as const;
  for (const [title, all, partitions, wanted] of table)
    it(title, () =>
      expect(
        planMoves(all, partitions, 8, 0.01).map(({ target, to }) => [target, to]),
      ).to.deep.equal(wanted),
    );

  it('makes the moves with the largest effect if their number is limited', () => {
    const all = targets([1, 1, 1, 1, 4], []);
    expect(planMoves(all, 2, 1, 0)).to.deep.equal([{ target: 4, to: 1 }]);
  });

  /** Loads are whole numbers, so that sums are exact. */
  const cases = fc.integer({ min: 1, max: 6 }).chain((partitions) =>
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

  it('never increases the highest load, and obeys its limits', () =>
    fc.assert(
      fc.property(cases, ({ partitions, all, most, least }) => {
        const before = loadsOf(all, partitions);
        const { moves, after } = apply(all, partitions, most, least);
        expect(moves.length).to.be.at.most(most);
        expect(Math.max(...loadsOf(after, partitions))).to.be.at.most(Math.max(...before));
        for (const { to } of moves) expect(to).to.be.within(0, partitions - 1);
        if (Math.max(...before) < least) expect(moves).to.deep.equal([]);
      }),
    ));

  it('reaches a stable state under unchanged loads', () =>
    fc.assert(
      fc.property(cases, ({ partitions, all, least }) => {
        let now: readonly TargetLoad[] = all;
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
