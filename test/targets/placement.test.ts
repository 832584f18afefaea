// The partition in which a target is placed. Spec 1.10.
import { expect } from 'chai';
import { pluralize } from '#app/pluralize.js';
import fc from 'fast-check';
import { hashPartition, leastLoaded, partitionCount } from '#app/targets/placement.js';

describe('the number of partitions (spec 8)', () => {
  /** The configured number, the mode, the number of targets, and the number of partitions on four cores. */
  const table = [
    [0, 'logical', 0, 1],
    [0, 'logical', 1, 1],
    [0, 'logical', 9, 9],
    [0, 'logical', 65, 64],
    [0, 'threaded', 0, 1],
    [0, 'threaded', 3, 3],
    [0, 'threaded', 9, 4],
    [1, 'logical', 9, 1],
    [7, 'logical', 2, 7],
    [7, 'threaded', 2, 7],
    [65, 'logical', 2, 64],
  ] as const;
  for (const [targetWorkers, workerExecutionMode, targets, count] of table)
    it(`is ${count} for target_workers = ${targetWorkers}, mode ${workerExecutionMode} and ${pluralize(targets, 'target')}`, () =>
      expect(partitionCount({ targetWorkers, workerExecutionMode }, targets, 4)).to.equal(count));
});

describe('placement by hash', () => {
  const known = [
    ['', 1, 0],
    ['["ads","","82"]', 1, 0],
    ['["ads","","82"]', 4, 1],
    ['["ads","","82"]', 64, 39],
    ['["adh","1","80","81"]', 7, 6],
  ] as const;
  for (const [key, partitions, place] of known)
    it(`puts the key '${key}' in partition ${place} of ${partitions}`, () =>
      expect(hashPartition(key, partitions)).to.equal(place));

  it('moves keys only to the new partition when a partition is added', () =>
    fc.assert(
      fc.property(fc.string(), fc.integer({ min: 1, max: 64 }), (key, partitions) => {
        const [before, after] = [
          hashPartition(key, partitions),
          hashPartition(key, partitions + 1),
        ];
        expect(before).to.be.within(0, partitions - 1);
        expect(after).to.be.oneOf([before, partitions]);
      }),
    ));

  it('distributes keys evenly', () => {
    const [keys, partitions] = [6400, 16];
    const counts = Array.from({ length: partitions }, () => 0);
    for (let i = 0; i < keys; i++) {
      const place = hashPartition(`["ads","","${i}"]`, partitions);
      counts[place] = (counts[place] ?? 0) + 1;
    }
    for (const count of counts) expect(count).to.be.within(320, 480);
  });
});

describe('placement by load', () => {
  const table = [
    [[0], 0],
    [[3, 1, 2], 1],
    [[1, 0, 0], 1],
    [[0.5, 0.5], 0],
  ] as const;
  for (const [loads, place] of table)
    it(`selects partition ${place} for the loads ${loads.join(', ')}`, () =>
      expect(leastLoaded(loads)).to.equal(place));
});
