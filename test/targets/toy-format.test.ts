// Tests that a new format needs only its own Poller and one entry in the list of formats.
import { expect } from 'chai';
import { Kernel } from '#app/exposition/wasm/kernel.js';
import { Scheduler, TaskQueue } from '#app/streams/scheduler.js';
import { pollerPools } from '#app/streams/poller-pool.js';
import type { Poller, PollerFactory } from '#app/streams/poller.js';
import { CatalogueCache } from '#app/catalogue/builtin.js';
import { LogicalPartition } from '#app/targets/partitions/logical-partition.js';
import { ServedTarget } from '#app/targets/served-target.js';
import { definitionOf } from '../support/definition-of.js';
import { FakeSource } from '../support/fake-source.js';
import type { FakeObject } from '../support/fake-source.js';
import { follow } from '../support/follow.js';
import { schedulerOf } from '../support/scheduler-of.js';
import { seriesOf } from '../support/served.js';
import { VirtualClock } from '../support/virtual-clock.js';

/**
 * A toy format. Each server key is a list of numbers, and is live unless the list is empty. It has no
 * notifications and no lock.
 */
class ToyPoller implements Poller {
  readonly #serverKey: string;
  readonly #numbers: readonly number[];
  #source: FakeSource | undefined;
  #root: FakeObject | undefined;

  constructor(serverKey: string, numbers: readonly number[]) {
    this.#serverKey = serverKey;
    this.#numbers = numbers;
  }

  poll() {
    const isThere = this.#numbers.length > 0;
    this.#source = isThere ? (this.#source ?? new FakeSource()) : undefined;
    const source = this.#source;
    if (source !== undefined) this.#take(source);
    return {
      serverKey: this.#serverKey,
      publisher: isThere
        ? ({ state: 'live', reason: 'there are numbers' } as const)
        : ({ state: 'absent', reason: 'there are no numbers' } as const),
      source,
      changes: source?.readChanges().changes ?? [],
      hasMore: false,
      notifications: 0,
      drops: { objects: 0, variables: 0 },
    };
  }

  wait() {
    return () => undefined;
  }

  close(): void {
    this.#source = undefined;
  }

  /** The root has one variable per number. */
  #take(source: FakeSource): void {
    if (source.roots.size === 0) this.#root = source.addObject('toys.1.demo', 'Toy');
    const root = this.#root;
    if (root === undefined) return;
    const variables = [...root.variables];
    this.#numbers.forEach((value, index) => {
      const variable =
        variables[index] ?? source.addVariable(root, `n${index}`, { type: 'f64', value });
      source.set(variable, value);
    });
  }
}

describe('a target of a second format', () => {
  const numbers: number[] = [];
  const toy: PollerFactory = (serverKey) => new ToyPoller(serverKey, numbers);
  const native: PollerFactory = () => {
    throw new Error('The other format is not asked');
  };

  it('is found, served, lost and found again', () => {
    const scheduler = new VirtualClock();
    const nowMs = () => scheduler.now();
    const formats = new Map([
      ['native', () => native],
      ['toy', () => toy],
    ]);
    const tasks = schedulerOf(scheduler);
    const pools = pollerPools(formats, { scheduler, tasks });
    const thread = { pools, catalogues: new CatalogueCache(), tasks, nowMs, scheduler };
    const queue = new TaskQueue(tasks, nowMs);
    const kernel = new Kernel();
    const target = new ServedTarget({
      definition: definitionOf({ format: 'toy', serverKeys: ['box'], renderMinIntervalMs: 0 }),
      partition: new LogicalPartition(0, thread, queue, () => kernel),
      rebalances: { moves: 0, lastMs: 0 },
      unixMs: () => 0,
      ...{ nowMs, scheduler },
    });
    const { subscription } = follow(target.run());
    const series = (): readonly string[] => {
      const { seen } = follow(target.demand());
      scheduler.advance(0);
      return seen.flatMap(seriesOf);
    };

    scheduler.advance(0);
    expect(series()).to.deep.equal([]);
    expect(target.status().progress.reason).to.contain('there are no numbers');
    numbers.push(3, 4.5);
    expect(series()).to.deep.equal([
      'demo_toy_n0{object="@root"} 3',
      'demo_toy_n1{object="@root"} 4.5',
    ]);
    numbers[0] = 7;
    expect(series()).to.include('demo_toy_n0{object="@root"} 7');
    numbers.push(1);
    expect(series()).to.have.length(3);
    numbers.length = 0;
    expect(series()).to.deep.equal([]);
    expect(target.status().isReady).to.equal(false);
    numbers.push(8);
    scheduler.advance(1000);
    expect(series()).to.deep.equal(['demo_toy_n0{object="@root"} 8']);
    subscription.unsubscribe();
  });

  it('fails if the list of formats does not contain its format', () =>
    expect(() =>
      pollerPools(new Map([['toy', () => toy]]), { tasks: new Scheduler() })('native'),
    ).to.throw('no format native'));
});
