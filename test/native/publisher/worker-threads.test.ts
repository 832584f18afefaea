// Tests publishers in worker threads, for each way in which a thread ends.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { PROJECT, testPrograms } from '../../support/processes.js';

const PUBLISHER = join(PROJECT, 'dist/native/publisher/publisher.js');

/** Code that ends a worker thread after it has published, by a description of the end. */
const ENDS = {
  'with close()': 'publisher.close()',
  'without close()': '',
  'by an exception': "throw new Error('on purpose')",
  'by process.exit()': 'process.exit(0)',
  'by terminate()': "setInterval(() => {}, 1000); parentPort.postMessage('terminate me')",
  'and counts mappings': `
    const maps = readFileSync('/proc/self/maps', 'utf8').split('\\n');
    console.log(maps.filter((line) => line.includes(' /dev/shm/')).length + ' mapping');
    publisher.close();`,
};

describe('A publisher in a worker thread', function () {
  this.slow(5000);
  const programs = testPrograms();

  /** Runs worker threads one after another, in a program whose main thread does not publish. */
  const run = (ends: readonly string[]) => {
    const program = programs.write(
      'main.mjs',
      `import { Worker } from 'node:worker_threads';
      for (const end of ${JSON.stringify(ends)}) {
        const worker = new Worker(new URL('./thread.mjs', import.meta.url), { workerData: end });
        worker.on('message', () => worker.terminate());
        worker.on('error', ({ message }) => console.log(message));
        await new Promise((resolve) => worker.once('exit', resolve));
      }
      console.log('end');
      `,
    );
    const ways = Object.entries(ENDS).map(
      ([name, code]) => `${JSON.stringify(name)}: () => { ${code} }`,
    );
    programs.write(
      'thread.mjs',
      `import { parentPort, workerData } from 'node:worker_threads';
      import { readFileSync } from 'node:fs';
      import { Publisher } from '${PUBLISHER}';
      const publisher = new Publisher({ serverKey: 'thread', contextId: '${programs.contextId}' });
      publisher.addRoot('host.1.shop', 'Shop');
      publisher.place();
      ({ ${ways.join(', ')} })[workerData]();
      `,
    );
    const { status, signal, stdout } = spawnSync(process.execPath, [program], { encoding: 'utf8' });
    return { status, signal, lines: stdout.split('\n').slice(0, -1) };
  };

  /** The ways to end a thread that leave the segment in place. */
  const UNCLOSED = ['without close()', 'by an exception', 'by process.exit()', 'by terminate()'];
  for (const end of UNCLOSED)
    it(`releases its server key and does not disturb the program when its thread ends ${end}`, () => {
      const { lines, ...ended } = run([end, end]);
      expect(ended).to.deep.equal({ status: 0, signal: null });
      expect(lines.filter((line) => line !== 'on purpose')).to.deep.equal(['end']);
    });

  it('unmaps the segments that ended threads had under the same server key', () => {
    const { lines, ...ended } = run([...UNCLOSED, 'and counts mappings']);
    expect(lines).to.deep.equal(['on purpose', '1 mapping', 'end']);
    expect(ended).to.deep.equal({ status: 0, signal: null });
  });
});
