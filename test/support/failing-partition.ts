// A partition that fails on request. It stands in for a partition whose thread fails.
import { Subject, concat, defer, merge, mergeMap, of, throwError } from 'rxjs';
import { newCounters } from '#app/exposition/counters.js';
import type { FoundRoot } from '#app/model.js';
import { unknownState } from '#app/streams/report.js';
import type { Report } from '#app/streams/report.js';
import type { TargetDefinition } from '#app/targets/formats.js';
import type { HostedTarget, Partition } from '#app/targets/partitions/logical-partition.js';

export class FailingPartition implements Partition {
  readonly number: number;
  /**
   * If not empty, each hosted target emits one report and then fails with this message, before it has a
   * root.
   */
  trouble = '';
  /** If true, newly hosted targets answer no refresh. */
  isDeaf = false;
  readonly #inner: Partition;
  readonly #failure$ = new Subject<string>();

  constructor(inner: Partition) {
    this.#inner = inner;
    this.number = inner.number;
  }

  host(definition: TargetDefinition, formerRoot?: FoundRoot): HostedTarget {
    const { isDeaf } = this;
    const hosted = this.#inner.host(definition, formerRoot);
    const fail = (message: string) => throwError(() => new Error(message));
    const state = unknownState(definition.serverKeys[0] ?? '');
    const rootless: Report = { kind: 'state', state, tasks: [], counts: newCounters() };
    const report$ = defer(() =>
      this.trouble === ''
        ? merge(this.#failure$.pipe(mergeMap(fail)), hosted.report$)
        : concat(of(rootless), fail(this.trouble)),
    );
    return {
      report$,
      refresh: (refresh) => isDeaf || hosted.refresh(refresh),
      queryTree: (query) => hosted.queryTree(query),
    };
  }

  close(): void {
    this.#inner.close();
  }

  /** Fails all hosted targets once; they may be hosted again. */
  fail(message: string): void {
    this.#failure$.next(message);
  }
}
