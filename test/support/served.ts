// A served target on real segments in virtual time, and its answers.
import { map } from 'rxjs';
import type { Subscription } from 'rxjs';
import { Kernel } from '#app/exposition/wasm/kernel.js';
import { TEXT } from '#app/exposition/page/text-page.js';
import type { DemandAnswer, LineForm, Scope, TargetEvent } from '#app/model.js';
import type { SharedMemory } from '#app/native/os/shared-memory.js';
import { segmentPollers } from '#app/native/segment/segment-poller.js';
import { TaskQueue } from '#app/streams/scheduler.js';
import type { Scheduler } from '#app/streams/scheduler.js';
import { PollerPool } from '#app/streams/poller-pool.js';
import type { TargetDefinition } from '#app/targets/formats.js';
import { CatalogueCache } from '#app/catalogue/builtin.js';
import { LogicalPartition } from '#app/targets/partitions/logical-partition.js';
import { ServedTarget } from '#app/targets/served-target.js';
import { CountingMemory } from './counting-memory.js';
import { definitionOf } from './definition-of.js';
import { follow } from './follow.js';
import { schedulerOf } from './scheduler-of.js';
import { Publishers } from './publishers.js';
import { VirtualClock } from './virtual-clock.js';

/** Options of a served target in addition to its definition. */
export interface ServedOptions {
  readonly kernel?: Kernel;
  readonly memory?: SharedMemory;
  readonly unixMs?: () => number;
}

/**
 * Call inside `describe`: returns publishers and a function that serves a target. Both are closed after each
 * test.
 */
export function freshServed() {
  const publishers = new Publishers();
  let served: Served | undefined;
  afterEach(() => {
    served?.leave();
    served = undefined;
    publishers.closeAll();
  });
  const serve = (definition?: Partial<TargetDefinition>, options?: ServedOptions): Served =>
    (served = new Served(publishers, definition, options));
  return { publishers, serve };
}

export class Served {
  readonly clock = new VirtualClock();
  readonly memory: CountingMemory;
  readonly pool: PollerPool;
  readonly tasks: Scheduler = schedulerOf(this.clock);
  readonly target: ServedTarget;
  readonly events: readonly TargetEvent[];
  readonly #kernel: Kernel;
  readonly #subscription: Subscription;

  /** Exports application `demo`, which has no catalogue, from server key 82 by default. */
  constructor(
    { contextId }: Publishers,
    definition: Partial<TargetDefinition> = {},
    { kernel = new Kernel(), memory: from, unixMs = () => 0 }: ServedOptions = {},
  ) {
    const memory = (this.memory = new CountingMemory(from));
    const { clock: scheduler } = this;
    this.pool = new PollerPool({
      makePoller: segmentPollers(memory, { contextId, poolName: 'pool' }),
      scheduler,
      tasks: this.tasks,
    });
    this.#kernel = kernel;
    this.target = new ServedTarget({
      definition: definitionOf(definition),
      partition: this.partition(0),
      rebalances: { moves: 0, lastMs: 0 },
      unixMs,
      nowMs: () => scheduler.now(),
      scheduler,
    });
    const { seen, subscription } = follow(this.target.run());
    this.events = seen;
    this.#subscription = subscription;
    this.clock.advance(0);
  }

  /** A partition in the same thread. */
  partition(
    number: number,
    queue = new TaskQueue(this.tasks, () => this.clock.now()),
    makeKernel = (): Kernel => this.#kernel,
  ): LogicalPartition {
    const { clock: scheduler, pool, tasks } = this;
    const nowMs = () => scheduler.now();
    const pools = () => pool;
    const thread = { pools, catalogues: new CatalogueCache(), nowMs, scheduler, tasks };
    return new LogicalPartition(number, thread, queue, makeKernel);
  }

  /** Polls a server key, as another target does. */
  poll(serverKey: string): void {
    const poll$ = this.pool.open(serverKey).pipe(map((key) => key.poll()));
    follow(poll$).subscription.unsubscribe();
  }

  /** The answer to one demand, while virtual time stands still. */
  ask(scope?: Scope, form?: LineForm): DemandAnswer {
    return this.answer((answer) => answer, scope, form);
  }

  /** Applies `take` to an answer at once, as a sink does: the buffers of its text may be reused later. */
  answer<T>(take: (answer: DemandAnswer) => T, scope?: Scope, form?: LineForm): T {
    const { seen, subscription } = follow(this.target.demand(scope, form).pipe(map(take)));
    this.clock.advance(0);
    const [answer] = seen;
    if (answer === undefined || !subscription.closed) throw new Error('The demand got no answer');
    return answer;
  }

  /** The lines of the application's series in the answer to one demand, without header lines. */
  series(): string[] {
    return this.answer(seriesOf);
  }

  internal(name: string): number | undefined {
    const metric = this.target.internal().find((each) => each.name === name);
    return metric === undefined ? undefined : Number(metric.value);
  }

  leave(): void {
    this.#subscription.unsubscribe();
  }
}

/** Returns the lines of a page that are series of application `demo`. */
export function seriesOf(answer: DemandAnswer): string[] {
  if (answer.kind === 'waiting') return [];
  const page = TEXT.page(answer);
  const text = Buffer.concat(page.buffers).toString();
  page.release();
  return text.split('\n').filter((line) => line.startsWith('demo_'));
}
