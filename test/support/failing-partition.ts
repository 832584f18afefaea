// A partition that fails on request, as the thread of a partition may.
import { Subject, defer, merge, mergeMap, throwError } from 'rxjs';
import type { FoundRoot } from '#app/model.js';
import type { TargetDefinition } from '#app/targets/formats.js';
import type { HostedTarget, Partition } from '#app/targets/partitions/partition.js';

export class FailingPartition implements Partition {
  readonly number: number;
  /** While this message is not empty, every target fails with it as soon as it is hosted. */
  trouble = '';
  /** Targets that are hosted while this is true receive no refresh. */
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
    const report$ = defer(() =>
      this.trouble === ''
        ? merge(this.#failure$.pipe(mergeMap(fail)), hosted.report$)
        : fail(this.trouble),
    );
    return {
      report$,
      send: (refresh) => {
        if (!isDeaf) hosted.send(refresh);
      },
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
