// Threads that are kept off the processor of another, by what the system says of them.
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { keepApart } from '#app/native/os/processors.js';

const THREAD = `const { parentPort } = require('node:worker_threads');
  parentPort.postMessage(Number(require('node:fs').readlinkSync('/proc/thread-self').split('/').pop()));
  parentPort.on('message', () => {});`;

/** How many processors a thread of this process may run on. */
function allowed(thread: number): number {
  const status = readFileSync(`/proc/self/task/${thread}/status`, 'utf8');
  const mask = /^Cpus_allowed:\s*(\S+)/m.exec(status)?.[1] ?? '';
  const bits = BigInt(`0x${mask.replaceAll(',', '')}`).toString(2);
  return bits.replaceAll('0', '').length;
}

describe('keepApart', () => {
  it('leaves a thread all processors but one, and itself all', async () => {
    const worker = new Worker(THREAD, { eval: true });
    try {
      const [thread] = (await once(worker, 'message')) as [number];
      const all = allowed(process.pid);
      const keep = keepApart();
      for (let i = 0; i < 3; i++) {
        keep(thread);
        expect(allowed(thread)).to.equal(Math.max(1, all - 1));
      }
      expect(allowed(process.pid)).to.equal(all);
    } finally {
      await worker.terminate();
    }
  });

  it('does nothing with a thread that is not known, or not there', () => {
    const keep = keepApart();
    const all = allowed(process.pid);
    keep(0);
    keep(0x7ffffff0);
    expect(allowed(process.pid)).to.equal(all);
  });
});
