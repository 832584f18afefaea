// Tests that JVMs in containers are found through their processes on the host.
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
import { valuesOf, pollAll } from '../support/polled-values.js';
import { needs } from '../support/needs.js';
import { PROJECT } from '../support/processes.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const NAMESPACES = ['--mount', '--pid', '--fork'];
/** Options for a poller that reads the processes of this host. */
const HOST = { proc: '/proc' };
const FAKE_JVM = join(PROJECT, 'dist-test/hsperfdata/fake-jvm.js');

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

  /** Starts a fake JVM as PID 1 of a namespace, and returns its PID on the host. */
  async function startContainer(mainClass: string): Promise<number> {
    const counters = files.write('counters', perfFile(someCounters(mainClass)).bytes);
    const program = [FAKE_JVM, counters, '/tmp/hsperfdata_box', 'own-tmp'];
    const child = spawn('unshare', [...NAMESPACES, process.execPath, ...program], {
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    running.add(child);
    await once(createInterface({ input: child.stderr }), 'line');
    return childrenOf(child)[0] ?? 0;
  }

  const canUnshare = (): boolean => spawnSync('unshare', [...NAMESPACES, 'true']).status === 0;

  it('are shown with their PIDs on the host if the configuration includes containers', async function () {
    needs(this, canUnshare(), 'this process may not make namespaces');
    const pids = [await startContainer('org.shop.Till'), await startContainer('org.shop.Stock')];
    const all = folder.poller({ containers: true }, HOST);
    const has = (poller: typeof all, pid: number): boolean =>
      valuesOf(pollAll(poller)).get(`${pid} java.threads.live`) === 12n;
    await eventually('both JVMs appear', () => pids.every((pid) => has(all, pid)));
    const none = folder.poller({ containers: false }, HOST);
    expect(pids.some((pid) => has(none, pid))).to.equal(false);
  });

  it('are shown only for the configured users', async function () {
    needs(this, canUnshare(), 'this process may not make namespaces');
    const pid = await startContainer('org.shop.Till');
    const poller = folder.poller({ containers: true, users: ['b*'] }, HOST);
    const other = folder.poller({ containers: true, users: ['shop'] }, HOST);
    const keysOf = (each: typeof poller): string => [...valuesOf(pollAll(each)).keys()].join();
    await eventually('the JVM appears', () => keysOf(poller).includes(`${pid} `));
    expect(keysOf(other)).not.to.contain(`${pid} `);
  });
});
