// Tests the program of the TypeScript page under node:cluster, which starts a new worker before the old one
// ends.
import { transformSync } from 'esbuild';
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { HEADER } from '#app/native/segment/layout.js';
import { pageBlocks } from '../support/page-blocks.js';
import { PROJECT, testPrograms, waitFor } from '../support/processes.js';

const PAGE = 'docs/publish-typescript.md';

/**
 * A program that starts a new worker at the first line on stdin, and ends the old worker once the new one
 * publishes. The second line ends the new worker.
 */
const PRIMARY = `
import cluster from 'node:cluster';
cluster.setupPrimary({ exec: process.argv[2], silent: true });
const start = (next) => {
  const worker = cluster.fork();
  worker.process.stderr.pipe(process.stderr);
  worker.process.stdout.once('data', () => {
    console.error('worker', worker.process.pid);
    next?.(worker);
  });
  worker.on('exit', (status) => console.error('ended', worker.process.pid, status));
  return worker;
};
const end = (worker) => {
  worker.disconnect();
  worker.process.kill();
};
const old = start();
process.stdin.once('data', () => start((worker) => {
  end(old);
  process.stdin.once('data', () => { end(worker); process.stdin.destroy(); });
}));
`;

describe('The program of the TypeScript page', function () {
  this.slow(10_000);
  const programs = testPrograms();

  it('keeps its metrics when a cluster starts the new worker before the old one ends', async () => {
    const page = readFileSync(join(PROJECT, PAGE), 'utf8');
    const shop = pageBlocks(page).find(({ file }) => file === 'tills.mts');
    const { code } = transformSync(shop?.lines.join('\n') ?? '', { loader: 'ts' });
    const own = code
      .replace('shm-publisher', join(PROJECT, 'dist/native/publisher/publisher.js'))
      .replace('serverKey:', `contextId: '${programs.contextId}', serverKey:`);
    const [primary, program] = [
      programs.write('primary.mjs', PRIMARY),
      programs.write('shop.mjs', own),
    ];
    const cluster = programs.command([process.execPath, primary, program], { stdin: 'pipe' });
    const [, old] = await cluster.line(/worker (\d+)/);
    cluster.type('next');
    const [, next] = await cluster.line(new RegExp(`worker (?!${old}\\b)(\\d+)`));
    await cluster.line(new RegExp(`ended ${old} 0`));
    const holder = () => {
      try {
        const segment = readFileSync(`/dev/shm/${programs.contextId}.pool.tills-1`);
        return `${segment.readBigUInt64LE(HEADER.pid)}`;
      } catch {
        return undefined;
      }
    };
    await waitFor('the segment of the new worker', () => holder() === next || undefined);
    await waitFor('the line', () => cluster.stderr.includes('now holds') || undefined);
    expect(cluster.stderr.match(/shm-publisher: .*/g)).to.deep.equal([
      `shm-publisher: another publisher holds /dev/shm/${programs.contextId}.pool.tills-1 (process ${old}); ` +
        'this publisher takes the key once it is free (set failIfBusy to get an error instead; give each worker process a key with its pid, and all of them one target with format = "workers")',
      `shm-publisher: this publisher now holds /dev/shm/${programs.contextId}.pool.tills-1`,
    ]);
    cluster.type('end');
    await cluster.ended;
  });
});
