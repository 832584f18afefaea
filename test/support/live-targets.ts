// Targets on real segments in real time, run as in the service.
import { performance } from 'node:perf_hooks';
import type { Subscription } from 'rxjs';
import type { TargetEvent } from '#app/model.js';
import { posixMemory } from '#app/native/os/posix.js';
import { segmentPollers } from '#app/native/segment/segment-poller.js';
import { Scheduler } from '#app/streams/scheduler.js';
import { PollerPool } from '#app/streams/poller-pool.js';
import type { TargetDefinition } from '#app/targets/formats.js';
import { CatalogueCache } from '#app/catalogue/builtin.js';
import { LogicalPartition } from '#app/targets/partitions/logical-partition.js';
import type { ServedTarget } from '#app/targets/served-target.js';
import { TargetRegistry } from '#app/targets/target-registry.js';
import { definitionOf } from './definition-of.js';
import { follow } from './follow.js';
import type { Publishers } from './publishers.js';

export class LiveTargets {
  readonly events: readonly TargetEvent[];
  readonly #registry: TargetRegistry;
  readonly #subscription: Subscription;

  constructor({ contextId }: Publishers, definitions: readonly Partial<TargetDefinition>[]) {
    const nowMs = () => performance.now();
    const makePoller = segmentPollers(posixMemory(), { contextId, poolName: 'pool' });
    const tasks = new Scheduler();
    const pool = new PollerPool({ makePoller, nowMs, tasks });
    const thread = { pools: () => pool, catalogues: new CatalogueCache(), nowMs, tasks };
    const partitions = [0, 1].map((number) => new LogicalPartition(number, thread));
    this.#registry = new TargetRegistry({
      assignment: 'least_loaded',
      partition: (number) => partitions[number] ?? new LogicalPartition(number, thread),
      unixMs: () => 0,
      nowMs,
    });
    const { seen, subscription } = follow(this.#registry.run());
    this.events = seen;
    this.#subscription = subscription;
    this.update(definitions);
  }

  get targets(): readonly ServedTarget[] {
    return this.#registry.targets;
  }

  /** Replaces the targets, as a reload does. */
  update(definitions: readonly Partial<TargetDefinition>[]): void {
    this.#subscription.add(
      follow(this.#registry.update(definitions.map(definitionOf), 2)).subscription,
    );
  }

  end(): void {
    this.#subscription.unsubscribe();
  }
}
