// SimulatedService runs targets in several partitions, as the service does, in virtual time.
import { Subscription } from 'rxjs';
import type { BudgetLimits } from '#app/budget.js';
import { BIND_STEPS } from '#app/exposition/target-view.js';
import type { Random } from '#app/simulator/course.js';
import { Scheduler } from '#app/streams/scheduler.js';
import { pollerPools } from '#app/streams/poller-pool.js';
import { formatPollers } from '#app/targets/formats.js';
import type { TargetDefinition } from '#app/targets/formats.js';
import { CatalogueCache } from '#app/catalogue/builtin.js';
import { LogicalPartition } from '#app/targets/partitions/logical-partition.js';
import type { Partition } from '#app/targets/partitions/logical-partition.js';
import type { ServedTarget } from '#app/targets/served-target.js';
import { TargetRegistry } from '#app/targets/target-registry.js';
import type { ThreadSetup } from '#app/targets/threads/messages.js';
import { ThreadedPartition } from '#app/targets/threads/threaded-partition.js';
import type { Mode } from '../../support/modes.js';
import { CONTEXT_ID, POOL_NAME } from './publications.js';
import type { Publications } from './publications.js';
import type { RefreshLog } from './refresh-log.js';
import type { SeededClock } from './seeded-clock.js';
import { SimulatedThread } from './simulated-thread.js';

export const PARTITIONS = 3;
/** The number of bind steps per time slice, if work is split into small slices. */
const FEW_STEPS = 6;

/** The longest delay of a message, and of an event-loop iteration, in fast and in slow partitions. */
const FAST_MS = 2;
const SLOW_MS = 15;

export interface ServiceParts {
  readonly clock: SeededClock;
  readonly random: Random;
  readonly publications: Publications;
  readonly log: RefreshLog;
  /** Whether work is split into small slices. */
  readonly isSliced: boolean;
  readonly mode: Mode;
  readonly logEvent: (what: string) => void;
  readonly fail: (error: unknown) => void;
}

export class SimulatedService {
  readonly #parts: ServiceParts;
  readonly #partitions: readonly Partition[];
  readonly #registry: TargetRegistry;
  readonly #subscription: Subscription;
  /** The live threads by partition number. */
  readonly #threads = new Map<number, SimulatedThread>();

  constructor(parts: ServiceParts) {
    this.#parts = parts;
    const { clock, log, logEvent, fail } = parts;
    const make = parts.mode === 'logical' ? this.#logical() : this.#threaded();
    this.#partitions = Array.from({ length: PARTITIONS }, (_, number) => log.logged(make(number)));
    this.#registry = new TargetRegistry({
      assignment: 'hash',
      partition: (number) => this.partition(number),
      unixMs: () => clock.now(),
      nowMs: () => clock.now(),
      scheduler: clock,
    });
    this.#subscription = this.#registry.run().subscribe({
      next: ({ message }) => {
        logEvent(`  ${message}`);
      },
      error: fail,
    });
  }

  get targets(): readonly ServedTarget[] {
    return this.#registry.targets;
  }

  partition(number: number): Partition {
    const partition = this.#partitions[number % PARTITIONS];
    if (partition === undefined) throw new Error(`no partition ${number}`);
    return partition;
  }

  /** Replaces the targets, as a reload does. Calls `done` when all changes are complete. */
  update(definitions: readonly TargetDefinition[], done: () => void): void {
    this.#subscription.add(
      this.#registry
        .update(definitions, PARTITIONS)
        .subscribe({ complete: done, error: this.#parts.fail }),
    );
  }

  move(target: ServedTarget, number: number, done: () => void): void {
    const partition = this.partition(number);
    this.#subscription.add(
      target.change({ partition }).subscribe({ complete: done, error: this.#parts.fail }),
    );
  }

  /** Whether a partition has a live thread. */
  hasThread(number: number): boolean {
    return this.#threads.has(number);
  }

  /** Ends the thread of a partition with an error. */
  failThread(number: number): void {
    const thread = this.#threads.get(number);
    this.#threads.delete(number);
    thread?.fail(new Error('the thread failed'));
  }

  end(): void {
    this.#subscription.unsubscribe();
    for (const partition of this.#partitions) partition.close();
  }

  /** Creates logical partitions, which share their poller pools. */
  #logical(): (number: number) => Partition {
    const { clock, publications } = this.#parts;
    const nowMs = () => clock.now();
    const pool = { contextId: CONTEXT_ID, poolName: POOL_NAME, nowNs: this.#nowNs };
    const formats = formatPollers({ memory: publications, ...pool });
    const tasks = this.#tasks();
    const pools = pollerPools(formats, { nowMs, scheduler: clock, tasks });
    const catalogues = new CatalogueCache();
    const thread = {
      pools,
      catalogues,
      nowMs,
      scheduler: clock,
      tasks,
      bindLimits: this.#bindLimits,
    };
    return (number) => new LogicalPartition(number, thread);
  }

  /** Creates threaded partitions. Each has its own thread, which is restarted after a failure. */
  #threaded(): (number: number) => Partition {
    const { clock, random, publications: memory } = this.#parts;
    const open = (name: string) => memory.open(name);
    return (number) => {
      const start = (setup: ThreadSetup): SimulatedThread => {
        const parts = {
          setup,
          open,
          nowNs: this.#nowNs,
          bindLimits: this.#bindLimits,
          tasks: this.#tasks(),
        };
        const thread = new SimulatedThread(clock, random.below(4) === 0 ? SLOW_MS : FAST_MS, parts);
        this.#threads.set(number, thread);
        return thread;
      };
      const setup = { number, contextId: CONTEXT_ID, poolName: POOL_NAME };
      return new ThreadedPartition(setup, memory, start, clock);
    };
  }

  /**
   * Creates a scheduler. Some schedulers are slow. If work is split into small slices, a slice has few steps.
   */
  #tasks(): Scheduler {
    const { clock, random, isSliced } = this.#parts;
    const mostMs = random.below(3) === 0 ? SLOW_MS : FAST_MS;
    let workedMs = 0;
    return new Scheduler(
      () => clock.now() + (isSliced ? (workedMs += random.below(3) / 4) : 0),
      (next) => {
        clock.soon(next, mostMs);
      },
    );
  }

  readonly #nowNs = (): bigint => BigInt(Math.round(this.#parts.clock.now() * 1e6)) + 1n;

  /** Limits without a time, so that a refresh always shows the whole tree. */
  readonly #bindLimits = (): BudgetLimits => {
    const { isSliced, random } = this.#parts;
    return { steps: isSliced ? 1 + random.below(FEW_STEPS) : BIND_STEPS };
  };
}
