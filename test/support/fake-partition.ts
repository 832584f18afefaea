// A partition without running targets: it records the targets it hosts, with a load that the test sets.
import { EMPTY, Subject, defer, merge, of } from 'rxjs';
import { newCounters } from '#app/exposition/counters.js';
import type { Counts } from '#app/exposition/counters.js';
import { unknownState } from '#app/streams/report.js';
import type { Report } from '#app/streams/report.js';
import type { TargetDefinition } from '#app/targets/formats.js';
import type { HostedTarget, Partition } from '#app/targets/partitions/logical-partition.js';

export class FakePartition implements Partition {
  readonly number: number;
  /** Whether hosted targets report that they are ready. A target that is not ready moves at once. */
  isReady = false;
  readonly #report$ = new Map<string, Subject<Report>>();

  constructor(number: number) {
    this.number = number;
  }

  host({ serverKeys }: TargetDefinition): HostedTarget {
    const [key = ''] = serverKeys;
    const report$ = new Subject<Report>();
    this.#report$.set(key, report$);
    return {
      report$: merge(
        report$,
        defer(() => (this.isReady ? of(this.#state(key, 0)) : EMPTY)),
      ),
      refresh: () => true,
      queryTree: () => EMPTY,
    };
  }

  /** Reports a refresh of the target with this server key: its duration, and the work that it counted. */
  refresh(key: string, tookMs: number, counts: Partial<Counts> = {}): void {
    this.#report$.get(key)?.next(this.#state(key, tookMs, counts));
  }

  #state(key: string, tookMs: number, counts: Partial<Counts> = {}): Report {
    const state = { ...unknownState(key), isReady: this.isReady };
    return {
      kind: 'state',
      state,
      tasks: [{ waitedMs: 0, tookMs }],
      counts: { ...newCounters(), ...counts },
    };
  }

  close(): void {
    this.#report$.clear();
  }
}
