// A partition that fails when a test tells it to, as a partition's thread may.
import { Subject, defer, merge, mergeMap, throwError } from 'rxjs';
import type { FormerRoot } from '#app/streams/choose-root.js';
import type { TargetDefinition } from '#app/targets/formats.js';
import type { HostedTarget, Partition } from '#app/targets/partitions/partition.js';

export class FailingPartition implements Partition {
  readonly number: number;
  /** While it is not empty, whoever is hosted fails with it at once. */
  trouble = '';
  /** Those that are hosted while it is deaf hear no refresh. */
  isDeaf = false;
  readonly #inner: Partition;
  readonly #failure$ = new Subject<string>();

  constructor(inner: Partition) {
    this.#inner = inner;
    this.number = inner.number;
  }

  host(definition: TargetDefinition, former?: FormerRoot): HostedTarget {
    const { isDeaf } = this;
    const hosted = this.#inner.host(definition, former);
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

  /** Fails once; those that it hosts may come back. */
  fail(message: string): void {
    this.#failure$.next(message);
  }
}
