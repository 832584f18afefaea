// JVMs in containers, found through the processes that run there.
import { spawn, spawnSync } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { expect } from 'chai';
import { eventually } from '../support/eventually.js';
import { perfFile, someCounters } from './perf-file.js';
import { perfFolder } from './perf-folder.js';
import { valuesOf, wholeSight } from '../support/polled-values.js';
import { needs } from '../support/needs.js';
import { PROJECT } from '../support/processes.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const NAMESPACES = ['--mount', '--pid', '--fork'];
/** Processes are those of this host. */
const HOST = { proc: '/proc' };
const STAND_IN = join(PROJECT, 'dist-test/hsperfdata/stand-in.js');

describe('JVMs in containers', function () {
  const folder = perfFolder();
  const files = temporaryFolder();
  const running = new Set<ChildProcess>();
  afterEach(async () => {
    for (const child of running) {
      const exit = once(child, 'exit');
      for (const pid of childrenOf(child)) process.kill(pid, 'SIGKILL');
      await exit;
    }
    running.clear();
  });

  const childrenOf = ({ pid = 0 }: ChildProcess): number[] =>
    readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
      .split(' ')
      .flatMap((each) => Number(each) || []);

  /** The host's number of a process that has the number 1 in a namespace, with a counter file there. */
  async function container(mainClass: string): Promise<number> {
    const counters = files.write('counters', perfFile(someCounters(mainClass)).bytes);
    const program = [STAND_IN, counters, '/tmp/hsperfdata_box', 'own-tmp'];
    const child = spawn('unshare', [...NAMESPACES, process.execPath, ...program], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    running.add(child);
    await once(createInterface({ input: child.stderr }), 'line');
    return childrenOf(child)[0] ?? 0;
  }

  const canUnshare = (): boolean => spawnSync('unshare', [...NAMESPACES, 'true']).status === 0;

  it('are shown with the numbers that they have on the host, if that is asked for', async function () {
    needs(this, canUnshare(), 'this process may not make namespaces');
    const pids = [await container('org.shop.Till'), await container('org.shop.Stock')];
    const all = folder.watch({ containers: true }, HOST);
    const has = (watch: typeof all, pid: number): boolean =>
      valuesOf(wholeSight(watch)).get(`${pid} java.threads.live`) === 12n;
    await eventually('both are seen', () => pids.every((pid) => has(all, pid)));
    const none = folder.watch({ containers: false }, HOST);
    expect(pids.some((pid) => has(none, pid))).to.equal(false);
  });

  it('are shown for chosen users only', async function () {
    needs(this, canUnshare(), 'this process may not make namespaces');
    const pid = await container('org.shop.Till');
    const watch = folder.watch({ containers: true, users: ['b*'] }, HOST);
    const other = folder.watch({ containers: true, users: ['shop'] }, HOST);
    const keysOf = (each: typeof watch): string => [...valuesOf(wholeSight(each)).keys()].join();
    await eventually('it is seen', () => keysOf(watch).includes(`${pid} `));
    expect(keysOf(other)).not.to.contain(`${pid} `);
  });
});
