// A partition without targets at work: it notes what it hosts, and is as busy as a test says.
import { filter, map } from 'rxjs';
import { standingOf } from '#app/targets/target-facts.js';
import type { TargetFacts } from '#app/targets/target-facts.js';
import type { TargetDefinition } from '#app/targets/definition.js';
import { nothingKnown } from '#app/targets/hosting/nothing-known.js';
import type { HostOptions, Hosted, Partition } from '#app/targets/hosting/partition.js';
import { NOTHING_HANDED_OVER } from '#app/streams/answer.js';

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
  host(definition: TargetDefinition, { order$ }: HostOptions): Hosted {
    const [key = ''] = definition.serverKeys;
    const nothing = nothingKnown(definition);
    this.#busyMs.set(key, 0);
    const facts = (): TargetFacts => ({
      ...nothing,
      counted: { ...nothing.counted, busyMs: this.#busyMs.get(key) ?? 0 },
    });
    const report$ = order$.pipe(
      filter(({ kind }) => kind === 'leave' && !this.isDeaf),
      map(() => NOTHING_HANDED_OVER),
    );
    return { report$, standing: () => standingOf(facts()), facts };
  }

  /** The target of that server key was refreshed for so long. */
  refresh(key: string, tookMs: number): void {
    this.#busyMs.set(key, (this.#busyMs.get(key) ?? 0) + tookMs);
  }

  close(): void {
    this.#busyMs.clear();
  }
}
