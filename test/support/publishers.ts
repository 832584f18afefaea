// Publishers of real segments with unique names; `closeAll()` removes the segments.
import { Publisher } from '#app/native/publisher/publisher.js';
import type { PublisherOptions } from '#app/native/publisher/publisher-options.js';
import { uniqueName } from './test-run.js';

/** Creates publishers of one context. */
export class Publishers {
  readonly contextId = uniqueName();
  readonly #made: Publisher[] = [];

  /** Returns a publisher that is not placed yet and has no heartbeat unless the options set one. */
  make(serverKey: string, options: Partial<PublisherOptions> = {}): Publisher {
    const publisher = new Publisher({
      failIfBusy: true,
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

  /** Returns a placed publisher with one root that has no children or variables. */
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
