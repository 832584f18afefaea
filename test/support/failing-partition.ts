// A partition that fails when a test says so, as the thread of one may.
import { Subject, defer, merge, mergeMap, throwError } from 'rxjs';
import type { TargetDefinition } from '#app/targets/definition.js';
import type { HostOptions, HostedTarget, Partition } from '#app/targets/hosting/partition.js';

export class FailingPartition implements Partition {
  readonly number: number;
  /** While it is not empty, whoever is hosted fails with it at once. */
  trouble = '';
  /** Those that are hosted while it is deaf hear no command. */
  isDeaf = false;
  readonly #inner: Partition;
  readonly #failure$ = new Subject<string>();

  constructor(inner: Partition) {
    this.#inner = inner;
    this.number = inner.number;
  }

  host(definition: TargetDefinition, options: HostOptions): HostedTarget {
    const { isDeaf } = this;
    const hosted = this.#inner.host(definition, options);
    const fail = (message: string) => throwError(() => new Error(message));
    const report$ = defer(() =>
      this.trouble === ''
        ? merge(this.#failure$.pipe(mergeMap(fail)), hosted.report$)
        : fail(this.trouble),
    );
    return {
      report$,
      send: (command) => {
        if (!isDeaf) hosted.send(command);
      },
      look: (question) => hosted.look(question),
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
