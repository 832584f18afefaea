// How long other threads kept this one from a processor: what the kernel says of the thread that asks.
import { expect } from 'chai';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { runDelayMs } from '#app/run-delay.js';

const told = () => Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[1]) / 1e6;

/** Asks in a thread of its own: before, by the function, and after. */
const ASKING = `
  import { readFileSync } from 'node:fs';
  import { parentPort } from 'node:worker_threads';
  const { runDelayMs } = await import(${JSON.stringify(import.meta.resolve('#app/run-delay.js'))});
  const told = () => Number(readFileSync('/proc/thread-self/schedstat', 'utf8').split(' ')[1]) / 1e6;
  parentPort.postMessage([told(), runDelayMs(), told()]);
`;

describe('runDelayMs', () => {
  it('is what the kernel tells of this thread', () => {
    for (let i = 0; i < 100; i++) {
      const before = told();
      const seen = runDelayMs();
      expect(seen).to.be.within(before, told());
    }
  });

  it('in another thread is of that one', async () => {
    const worker = new Worker(new URL(`data:text/javascript,${encodeURIComponent(ASKING)}`));
    const [numbers] = (await once(worker, 'message')) as [[number, number, number]];
    const [before, seen, after] = numbers;
    expect(seen).to.be.within(before, after);
    await worker.terminate();
  });
});
