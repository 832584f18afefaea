// A partition without targets at work: it notes what it hosts, and is as busy as a test says.
import { filter, map } from 'rxjs';
import type { TargetFacts } from '#app/exposition/target-facts.js';
import type { TargetDefinition } from '#app/partitions/definition.js';
import type { HostOptions, Hosted, Partition } from '#app/partitions/partition.js';
import { NOTHING_HANDED_OVER } from '#app/streams/answer.js';

const NO_TIME = { count: 0, sum: 0, mean: 0, p50: 0, p95: 0, p99: 0 };

export class FakePartition implements Partition {
  readonly number: number;
  /** Those that it hosts do not leave while it is deaf. */
  isDeaf = false;
  /** Milliseconds of refreshes by server key, since it was hosted. */
  readonly #busyMs = new Map<string, number>();

  constructor(number: number) {
    this.number = number;
  }

  /** Not ready, so it moves at once; leaves when it is told to. */
  host({ serverKeys: [key = ''] }: TargetDefinition, { order$ }: HostOptions): Hosted {
    this.#busyMs.set(key, 0);
    const facts = (): TargetFacts => ({
      serverKey: key,
      root: '',
      isReady: false,
      progress: {
        objects: { synced: 0, total: 0 },
        variables: { synced: 0, total: 0 },
        reason: 'a test',
      },
      publisher: { state: 'absent', reason: 'a test' },
      view: undefined,
      highlighted: undefined,
      refreshes: { ...NO_TIME, sum: this.#busyMs.get(key) ?? 0 },
      queue: { busyIdleRatio: 0, waits: NO_TIME },
    });
    const report$ = order$.pipe(
      filter(({ kind }) => kind === 'leave' && !this.isDeaf),
      map(() => NOTHING_HANDED_OVER),
    );
    return { report$, standing: facts, facts };
  }

  /** The target of that server key was refreshed for so long. */
  refresh(key: string, tookMs: number): void {
    this.#busyMs.set(key, (this.#busyMs.get(key) ?? 0) + tookMs);
  }

  close(): void {
    this.#busyMs.clear();
  }
}
