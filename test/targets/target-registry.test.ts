// Tests TargetRegistry: the targets and their partitions. Spec 1.3.3 and 1.10.
import { expect } from 'chai';
import type { TargetDefinition } from '#app/targets/formats.js';
import { hashPartition } from '#app/targets/placement.js';
import { TargetRegistry } from '#app/targets/target-registry.js';
import { definitionOf } from '../support/definition-of.js';
import { FakePartition } from '../support/fake-partition.js';
import { follow } from '../support/follow.js';
import { VirtualClock } from '../support/virtual-clock.js';

describe('a target registry', () => {
  const leaving: (() => void)[] = [];
  afterEach(() => {
    for (const leave of leaving.splice(0)) leave();
  });

  const registryOf = (assignment: 'hash' | 'least_loaded' = 'least_loaded') => {
    const clock = new VirtualClock();
    const nowMs = () => clock.now();
    const partitions = new Map<number, FakePartition>();
    const partition = (number: number): FakePartition => {
      const made = partitions.get(number) ?? new FakePartition(number);
      partitions.set(number, made);
      return made;
    };
    const registry = new TargetRegistry({
      ...{ assignment, partition, nowMs, scheduler: clock },
      unixMs: () => 0,
    });
    const { subscription } = follow(registry.run());
    leaving.push(() => {
      subscription.unsubscribe();
    });
    const update = (
      keys: readonly string[],
      count: number,
      given: Partial<TargetDefinition> = {},
    ) =>
      follow(
        registry.update(
          keys.map((key) => definitionOf({ serverKeys: [key], ...given })),
          count,
        ),
      ).subscription;
    const keys = () => registry.targets.map(({ serverKeys }) => serverKeys.join());
    const places = () => registry.targets.map(({ assignment }) => assignment.partition.number);
    /** Reports how many milliseconds the refreshes of each target took in the last second. */
    const work = (ms: readonly number[]) => {
      clock.advance(1000);
      registry.targets.forEach(({ serverKeys: [key = ''], assignment }, index) => {
        partition(assignment.partition.number).refresh(key, ms[index] ?? 0);
      });
    };
    const rebalance = (most = 8, least = 0.01) => follow(registry.rebalance(most, least));
    const metric = (name: string) =>
      registry.targets.map(
        (target) =>
          target.internal().find((each) => each.name === `shm_exporter_worker_${name}`)?.value,
      );
    return { clock, registry, partition, update, keys, places, work, rebalance, metric };
  };

  it('keeps, adds and removes targets, in the order of the configuration', () => {
    const { registry, update, keys } = registryOf();
    update(['1', '2', '3'], 2);
    const [one, two, three] = registry.targets;
    expect(update(['4', '3', '1'], 2).closed).to.equal(true);
    expect(keys()).to.deep.equal(['4', '3', '1']);
    expect(registry.targets[1]).to.equal(three);
    expect(registry.targets[2]).to.equal(one);
    expect(registry.targets).not.to.include(two);
    update([], 1);
    expect(keys()).to.deep.equal([]);
  });

  it('stops removed targets and runs added ones', () => {
    const { registry, update } = registryOf();
    update(['1'], 1);
    const [one] = registry.targets;
    if (one === undefined) throw new Error('There is no target');
    const first = follow(one.demand());
    expect(first.seen).to.have.length(0);
    update(['2'], 1);
    expect(first.seen.map(({ kind }) => kind)).to.deep.equal(['waiting']);
    const late = follow(one.demand());
    expect(
      late.seen.map(({ kind }) => kind),
      'a demand on a removed target is answered',
    ).to.deep.equal(['waiting']);
  });

  it('distinguishes equal targets by their order', () => {
    const { registry, update } = registryOf();
    update(['1', '1'], 2);
    const [first, second] = registry.targets;
    expect(first).not.to.equal(second);
    update(['1', '2', '1', '1'], 2);
    expect(registry.targets[0]).to.equal(first);
    expect(registry.targets[2]).to.equal(second);
    update(['1'], 2);
    expect(registry.targets).to.deep.equal([first]);
  });

  const identities: readonly (readonly [string, Partial<TargetDefinition>, boolean])[] = [
    ['the filter', { seedPaths: ['@root'] }, true],
    ['show_uncatalogued', { showUncatalogued: true }, true],
    ['path_labels', { pathLabels: ['{area}'] }, true],
    ['the interval', { renderMinIntervalMs: 7 }, true],
    ['the variable', { variable: 'x' }, true],
    ['the catalogue', { catalogue: { file: 'f', text: '' } }, true],
    ['the application', { app: 'other' }, false],
    ['the instance', { instance: '7' }, false],
  ];
  for (const [what, change, isSame] of identities)
    it(`${isSame ? 'keeps' : 'replaces'} a target when ${what} changes`, () => {
      const { registry, update } = registryOf();
      update(['1'], 1);
      const [before] = registry.targets;
      update(['1'], 1, change);
      const [after] = registry.targets;
      expect(after === before).to.equal(isSame);
      expect(after?.assignment.definition).to.deep.include(change);
    });

  it('does not redefine a target whose definition is equal', () => {
    const { registry, update } = registryOf();
    update(['1'], 1);
    const definition = registry.targets[0]?.assignment.definition;
    update(['1'], 1);
    expect(registry.targets[0]?.assignment.definition).to.equal(definition);
  });

  describe('with hash', () => {
    it('places targets by identity, and keeps their places when targets are added', () => {
      const { update, places } = registryOf('hash');
      const keys = Array.from({ length: 40 }, (_, i) => String(i));
      const hashed = (key: string, count: number) =>
        hashPartition(JSON.stringify(['demo', 'native', '', key]), count);
      update(keys.slice(0, 20), 4);
      const before = places();
      expect(before).to.deep.equal(keys.slice(0, 20).map((key) => hashed(key, 4)));
      update(keys, 9);
      expect(places()).to.deep.equal([...before, ...keys.slice(20).map((key) => hashed(key, 9))]);
    });
  });

  describe('with least_loaded', () => {
    it('distributes targets evenly before the first measurement', () => {
      const { update, places } = registryOf();
      update(['1', '2', '3', '4', '5'], 3);
      expect(places()).to.deep.equal([0, 1, 2, 0, 1]);
    });

    it('places a new target in the partition with the least measured refresh time', () => {
      const { update, places, work } = registryOf();
      update(['1', '2', '3'], 3);
      work([500, 100, 300]);
      update(['1', '2', '3', '4', '5'], 3);
      // Until the first new target is measured, it counts as a target with an average refresh time.
      expect(places()).to.deep.equal([0, 1, 2, 1, 2]);
    });

    it('ignores measurements of less than a second', () => {
      const { clock, registry, partition, update, places } = registryOf();
      update(['1', '2'], 2);
      clock.advance(999);
      partition(0).refresh('1', 900);
      expect(registry.targets[0]?.busyMs).to.equal(900);
      update(['1', '2', '3'], 2);
      expect(places()).to.deep.equal([0, 1, 0]);
    });
  });

  describe('with rebalancing', () => {
    it('moves targets from the busiest to the least busy partition, and reports the number and duration of moves', () => {
      const { update, places, work, rebalance, metric } = registryOf();
      update(['1', '2', '3', '4'], 2);
      expect(places()).to.deep.equal([0, 1, 0, 1]);
      expect(metric('rebalance_total')).to.deep.equal([0, 0, 0, 0]);
      work([300, 0, 300, 0]);
      expect(rebalance().subscription.closed).to.equal(true);
      expect(places()).to.deep.equal([1, 1, 0, 1]);
      expect(metric('rebalance_total')).to.deep.equal([1, 1, 1, 1]);
      expect(metric('rebalance_last_duration_ms')).to.deep.equal([0, 0, 0, 0]);
      work([300, 0, 300, 0]);
      rebalance();
      expect(places()).to.deep.equal([1, 1, 0, 1]);
      expect(metric('rebalance_total')).to.deep.equal([1, 1, 1, 1]);
    });

    it('obeys the limit on moves and the minimum load', () => {
      const { update, places, work, rebalance, metric } = registryOf();
      update(['1', '2', '3', '4', '5', '6'], 1);
      update(['1', '2', '3', '4', '5', '6'], 6);
      work([100, 100, 100, 100, 100, 100]);
      rebalance(8, 0.61);
      expect(places()).to.deep.equal([0, 0, 0, 0, 0, 0]);
      work([100, 100, 100, 100, 100, 100]);
      rebalance(2);
      expect(places().filter((place) => place > 0)).to.have.length(2);
      expect(metric('rebalance_total')).to.include(2);
    });

    it('ends a pass, and counts no move, when the targets to be moved are removed', () => {
      const { update, partition, work, rebalance, places, metric } = registryOf();
      for (const number of [0, 1, 2]) partition(number).isReady = true;
      update(['1', '2', '3'], 1);
      update(['1', '2', '3'], 3);
      work([100, 100, 100]);
      for (const number of [1, 2]) partition(number).isReady = false;
      const { subscription } = rebalance();
      expect(subscription.closed).to.equal(false);
      update(['3'], 3);
      expect(subscription.closed).to.equal(true);
      expect(places()).to.deep.equal([0]);
      expect(metric('rebalance_total')).to.deep.equal([0]);
    });

    it('ends a pass when all moves are complete', () => {
      const { clock, update, partition, work, rebalance, metric } = registryOf();
      for (const number of [0, 1]) partition(number).isReady = true;
      update(['1', '2'], 1);
      update(['1', '2'], 2);
      work([100, 100]);
      partition(1).isReady = false;
      rebalance();
      clock.advance(3000);
      partition(1).isReady = true;
      partition(1).refresh('1', 0);
      expect(metric('rebalance_last_duration_ms')).to.deep.equal([3000, 3000]);
      expect(metric('rebalance_total')).to.deep.equal([1, 1]);
    });
  });
});
