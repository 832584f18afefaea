// A served target over real segments in virtual time, and what it answers.
import { map } from 'rxjs';
import type { Subscription } from 'rxjs';
import { compileFilters } from '#app/catalogue/filters.js';
import { Kernel } from '#app/exposition/kernel/kernel.js';
import { TEXT } from '#app/exposition/text-format.js';
import type { Exposition, Scope, TargetEvent } from '#app/model.js';
import { ServedTarget } from '#app/served-target.js';
import type { TargetParts } from '#app/served-target.js';
import { Partition } from '#app/streams/partition.js';
import { ServerPool } from '#app/streams/server-pool.js';
import { CountingMemory } from './counting-memory.js';
import { follow } from './follow.js';
import type { Publishers } from './segment-of.js';
import { VirtualClock } from './virtual-clock.js';

export class Served {
  readonly clock = new VirtualClock();
  readonly memory = new CountingMemory();
  readonly pool: ServerPool;
  readonly partition: Partition;
  readonly target: ServedTarget;
  readonly events: readonly TargetEvent[];
  readonly #subscription: Subscription;

  /** Exports application `demo`, which has no catalogue, from server key 82 unless told otherwise. */
  constructor({ contextId }: Publishers, parts: Partial<TargetParts> = {}) {
    const { clock: scheduler, memory } = this;
    this.pool = new ServerPool({ memory, contextId, poolName: 'pool', scheduler });
    this.partition = new Partition(
      0,
      () => scheduler.now(),
      (next) => void scheduler.schedule(next),
    );
    this.target = new ServedTarget({
      app: 'demo',
      serverKeys: ['82'],
      instance: '',
      catalogue: undefined,
      filters: compileFilters(undefined, { classes: [], seedPathGroups: [], seedPaths: [] }),
      pool: this.pool,
      partition: this.partition,
      kernel: new Kernel(),
      spacingMs: 250,
      unixMs: () => 0,
      scheduler,
      ...parts,
    });
    const { seen, subscription } = follow(this.target.run());
    this.events = seen;
    this.#subscription = subscription;
    this.clock.advance(0);
  }

  /** The answer to one demand; no time passes. */
  ask(scope?: Scope): Exposition {
    return this.answer((exposition) => exposition, scope);
  }

  /** What `take` makes of an answer at once, as a sink does: later its text may be gone. */
  answer<T>(take: (exposition: Exposition) => T, scope?: Scope): T {
    const { seen, subscription } = follow(this.target.demand(scope).pipe(map(take)));
    this.clock.advance(0);
    const [answer] = seen;
    if (answer === undefined || !subscription.closed) throw new Error('The demand got no answer');
    return answer;
  }

  /** The application series of one demand, without header lines. */
  series(): string[] {
    return this.answer(seriesOf);
  }

  internal(name: string): number | undefined {
    return this.target.internal().find((metric) => metric.name === name)?.value;
  }

  leave(): void {
    this.#subscription.unsubscribe();
  }
}

/** The lines of a page that are series of the application `demo`. */
export function seriesOf(exposition: Exposition): string[] {
  if (exposition.kind === 'waiting') return [];
  const page = TEXT.page(exposition);
  const text = Buffer.concat(page.pieces).toString();
  page.release();
  return text.split('\n').filter((line) => line.startsWith('demo_'));
}
