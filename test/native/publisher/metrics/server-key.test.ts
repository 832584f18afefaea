// Tests server keys in which `{pid}` stands for the pid.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { Registry, publish, publishRegistry } from '#app/native/publisher/library.js';
import { PROJECT, testPrograms } from '../../../support/processes.js';

const LIBRARY = join(PROJECT, 'dist/native/publisher/library.js');

describe('A server key of metrics with {pid}', function () {
  this.slow(2000);
  const programs = testPrograms();
  const app = 'demo';
  const register = new Registry();
  const options = (serverKey: string) => ({ contextId: programs.contextId, serverKey, app });
  const hasSegment = (key: string): boolean =>
    existsSync(`/dev/shm/${programs.contextId}.pool.${key}`);

  it('has the pid at its place, for publish and for publishRegistry', async () => {
    for (const open of [
      () => publish({ ...options('shop-{pid}.v1'), register }),
      () => publishRegistry({ getMetricsAsJSON: () => [] }, options('shop-{pid}.v1')),
    ]) {
      const published = await open();
      expect(hasSegment(`shop-${process.pid}.v1`)).to.equal(true);
      published.close();
    }
  });

  it('has the option pid at its place, if that is set', () => {
    const published = publish({ ...options('shop-{pid}'), register, pid: 7 });
    expect(hasSegment('shop-7')).to.equal(true);
    published.close();
  });

  it('has the pid and the number of the thread at its place in worker threads, so that each has a segment', () => {
    const program = programs.write(
      'threads.mjs',
      `import { Worker, isMainThread, threadId } from 'node:worker_threads';
      import { publish } from '${LIBRARY}';
      const published = publish({
        ...{ serverKey: 'shop-{pid}', app: 'demo', contextId: '${programs.contextId}' },
        failIfBusy: true,
      });
      if (isMainThread) {
        const workers = [1, 2].map(() => new Worker(new URL(import.meta.url)));
        const ready = (worker) => new Promise((resolve) => worker.once('message', resolve));
        const threads = await Promise.all(workers.map(ready));
        console.log(JSON.stringify([process.pid, ...threads]));
        for (const worker of workers) worker.postMessage('end');
      } else {
        const { parentPort } = await import('node:worker_threads');
        const { existsSync } = await import('node:fs');
        const key = \`shop-\${process.pid}.\${threadId}\`;
        parentPort.postMessage(existsSync(\`/dev/shm/${programs.contextId}.pool.\${key}\`));
        parentPort.once('message', () => published.close());
      }
      `,
    );
    const { status, stdout, stderr, pid } = spawnSync(process.execPath, [program], {
      encoding: 'utf8',
    });
    expect([status, stderr, stdout]).to.deep.equal([0, '', `[${pid},true,true]\n`]);
  });

  it('is refused with an error that shows the key as written, if it has other characters, has {pid} twice, or is too long with the pid', () => {
    const tooLong = `{pid}${'x'.repeat(64)}`;
    for (const [key, found] of [
      ['shop-{PID}', '"shop-{PID}"'],
      ['{pid}-shop.{pid}', '"{pid}-shop.{pid}"'],
      [tooLong, `"${tooLong.slice(0, 60)}…"`],
    ] as const)
      expect(() => publish({ ...options(key), register })).to.throw(
        RangeError,
        `publish: serverKey: found ${found}, allowed: a string of 1 to 64 letters, digits, "_", "-" and ".", not starting with ".", with at most one "{pid}"`,
      );
  });
});
