// Publications of metrics to real segments with unique names, closed after each test.
import { publish } from '#app/native/publisher/library.js';
import type { Publication, PublishOptions } from '#app/native/publisher/library.js';
import { freshServed } from './served.js';
import type { Served } from './served.js';

const CAPACITY = { records: 4096, stringBytes: 262_144, slots: 4096, frameBytes: 262_144 };

/** Call inside `describe`: returns a function that publishes, and one that serves what was published. */
export function freshPublications() {
  const { publishers, serve } = freshServed();
  const open: Publication[] = [];
  afterEach(() => {
    for (const each of open.splice(0)) each.close();
  });
  /** Fails at the first warning, unless the options have `warn`. */
  const publishing = (options: Partial<PublishOptions>): Publication => {
    const published = publish({
      contextId: publishers.contextId,
      ...{ serverKey: '82', app: 'demo', capacity: CAPACITY, intervalMs: 60_000, warn: fail },
      ...options,
    });
    open.push(published);
    return published;
  };
  /** Lets time pass until the reader has seen all changes. */
  const settled = async (published: Publication, served: Served): Promise<void> => {
    await published.update();
    served.clock.advance(2000);
  };
  return { publishing, serve, settled, publishers };
}

function fail(sentence: string): void {
  throw new Error(`warned: ${sentence}`);
}
