// Publishers of real segments under names of their own, and the end of all of them.
import { Publisher } from '#app/native/publisher/publisher.js';
import type { PublisherOptions } from '#app/native/publisher/publisher-options.js';
import { uniqueName } from './test-run.js';

/** Makes publishers of one context; `closeAll()` takes their segments away. */
export class Publishers {
  readonly contextId = uniqueName();
  readonly #made: Publisher[] = [];

  /** A publisher that is not placed yet. Its heart is still unless it is told to beat. */
  make(serverKey: string, options: Partial<PublisherOptions> = {}): Publisher {
    const publisher = new Publisher({
      contextId: this.contextId,
      serverKey,
      pid: process.pid,
      realtimeNs: () => process.hrtime.bigint(),
      heartbeatMs: 0,
      ...options,
    });
    this.#made.push(publisher);
    return publisher;
  }

  /** A publisher that shows one root without anything below it. */
  withRoot(serverKey: string, root: string, options: Partial<PublisherOptions> = {}): Publisher {
    const publisher = this.make(serverKey, options);
    publisher.addRoot(root, 'Root');
    publisher.place();
    return publisher;
  }

  closeAll(): void {
    for (const publisher of this.#made.splice(0)) publisher.close();
  }
}
