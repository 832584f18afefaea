// Shows how readers of shared memory behave when the publisher is killed or stopped, when its file is truncated, or
// during an update. Uses the readers of the Debian packages varnish and pcp; skips a reader that is not installed.
// Usage: readers.js [varnish|pcp|ours] [cut|killed|stopped|update]
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import fs from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';
import { startExporter } from './exporter.js';
import { fetchPage } from './page.js';

const [onlyReader = '', onlyFault = ''] = process.argv.slice(2);
const folder = fs.mkdtempSync(join(tmpdir(), 'shm-readers-'));
const MAX_MS = 10_000;
/** Describes how a program ended, the number of lines that it printed, and its last error line. */
const ended = ({ status, signal, stdout, stderr }) => {
  const lines = stdout.split('\n').filter((line) => line.trim() !== '').length;
  const said = stderr.trim().split('\n').at(-1) ?? '';
  return `${signal ?? `exit ${status}`}, ${lines} lines${said === '' ? '' : `, then ${said}`}`;
};
const run = (words) =>
  ended(spawnSync(words[0], words.slice(1), { encoding: 'utf8', timeout: MAX_MS }));

const varnish = {
  isThere: ['/usr/sbin/varnishd', '/usr/bin/varnishstat'].every(fs.existsSync),
  async start() {
    const work = join(folder, `varnish-${Date.now()}`);
    const words = ['-n', work, '-b', 'none', '-a', '127.0.0.1:0', '-F'];
    const manager = spawn('/usr/sbin/varnishd', words, { stdio: 'ignore' });
    await sleep(4000);
    const children = () => {
      const path = `/proc/${manager.pid}/task/${manager.pid}/children`;
      return fs.readFileSync(path, 'utf8').trim().split(' ').filter(Boolean).map(Number);
    };
    const all = [manager.pid, ...children()];
    const signal = (name) => {
      for (const pid of all) process.kill(pid, name);
    };
    const counters = join(work, '_.vsm_child');
    return {
      faults: {
        // The server maps the files too. Stop it, so that the truncation does not crash it.
        cut() {
          signal('SIGSTOP');
          for (const file of fs.readdirSync(counters).filter((each) => each.includes('Stat')))
            fs.truncateSync(join(counters, file), 0);
        },
        killed: () => signal('SIGKILL'),
        stopped: () => signal('SIGSTOP'),
      },
      read: () => run(['/usr/bin/varnishstat', '-n', work, '-1']),
      async stop() {
        if (manager.exitCode === null && manager.signalCode === null) {
          signal('SIGKILL');
          await once(manager, 'exit').catch(() => undefined);
        }
      },
    };
  },
};

const PMDA = '/var/lib/pcp/pmdas/mmv/pmda_mmv.so';
const MMV = '/var/lib/pcp/tmp/mmv';
/** A memory-mapped values file of version 1 with one counter of 42, as mmv(5) describes it. */
function mmvFile(pid) {
  const bytes = Buffer.alloc(40 + 32 + 104 + 32);
  bytes.write('MMV\0', 'latin1');
  bytes.writeUInt32LE(1, 4);
  bytes.writeBigUInt64LE(77n, 8);
  bytes.writeBigUInt64LE(77n, 16);
  // The file has two sections. Flag 2 says that the values are valid only while the process runs.
  [2, 2, pid, 123].forEach((value, index) => bytes.writeUInt32LE(value, 24 + 4 * index));
  const contents = (at, type, count, offset) => {
    bytes.writeInt32LE(type, at);
    bytes.writeInt32LE(count, at + 4);
    bytes.writeBigUInt64LE(BigInt(offset), at + 8);
  };
  contents(40, 3, 1, 72);
  contents(56, 4, 1, 176);
  bytes.write('x.count', 72, 'latin1');
  [1, 3, 3, 0].forEach((value, index) => bytes.writeInt32LE(value, 72 + 64 + 4 * index));
  bytes.writeInt32LE(-1, 72 + 64 + 16);
  bytes.writeBigUInt64LE(42n, 176);
  bytes.writeBigUInt64LE(72n, 176 + 16);
  return bytes;
}

const pcp = {
  isThere: ['/usr/bin/pmval', PMDA].every(fs.existsSync),
  async start() {
    const publisher = spawn('sleep', ['100']);
    const file = join(MMV, `readers${process.pid}`);
    fs.mkdirSync(MMV, { recursive: true });
    fs.writeFileSync(file, mmvFile(publisher.pid));
    const names = join(folder, 'pmns');
    fs.writeFileSync(names, 'root {\n    mmv\t70:*:*\n}\n');
    const local = ['-n', names, '-L', '-K', 'clear', '-K', `add,70,${PMDA},mmv_init`];
    const reader = spawn('/usr/bin/pmval', [
      ...local,
      '-r',
      '-t',
      '0.5',
      '-s',
      '8',
      `mmv.readers${process.pid}.x.count`,
    ]);
    const words = { stdout: '', stderr: '' };
    for (const name of ['stdout', 'stderr'])
      reader[name].on('data', (text) => (words[name] += text));
    const over = once(reader, 'exit');
    await sleep(1200);
    return {
      faults: {
        cut: () => fs.truncateSync(file, 0),
        killed: () => process.kill(publisher.pid, 'SIGKILL'),
        stopped: () => process.kill(publisher.pid, 'SIGSTOP'),
        update() {
          const open = fs.openSync(file, 'r+');
          fs.writeSync(open, Buffer.alloc(8), 0, 8, 16);
          fs.closeSync(open);
        },
      },
      /** Waits until the only reader has ended. That reader keeps the file open, as pmcd does. */
      async read() {
        const [status, signal] = await over;
        return ended({ status, signal, ...words });
      },
      async stop() {
        publisher.kill('SIGKILL');
        fs.rmSync(file, { force: true });
      },
    };
  },
};

const ours = {
  isThere: true,
  async start() {
    const contextId = `readers${process.pid}_${Date.now()}`;
    const words = ['--context-id', contextId, '--server-key', '82', '--rate', '20'];
    const simulator = new URL('../dist/bin/shm_simulator.js', import.meta.url).pathname;
    const publisher = spawn(process.execPath, [simulator, ...words], { stdio: 'ignore' });
    const lines = [
      `context_id = "${contextId}"`,
      'stalled_after_seconds = 1',
      'server_keys = ["82"]',
    ];
    const exporter = await startExporter(folder, lines);
    const file = fs.readdirSync('/dev/shm').find((each) => each.startsWith(`${contextId}.`));
    return {
      faults: {
        cut: () => fs.truncateSync(join('/dev/shm', file), 0),
        killed: () => publisher.kill('SIGKILL'),
        stopped: () => publisher.kill('SIGSTOP'),
      },
      async read() {
        const began = performance.now();
        for (;;) {
          const { status, text: body } = await fetchPage(exporter.port, '/metrics');
          const after = `after ${((performance.now() - began) / 1000).toFixed(1)} s`;
          if (status !== 200) return `${status} ${after}: ${body.trim()}`;
          if (performance.now() - began > MAX_MS) return `200 for ${MAX_MS / 1000} s`;
          await sleep(50);
        }
      },
      async stop() {
        publisher.kill('SIGKILL');
        await exporter.stop();
        fs.rmSync(join('/dev/shm', file), { force: true });
      },
    };
  },
};

try {
  for (const [name, reader] of Object.entries({ varnish, pcp, ours })) {
    if (!name.includes(onlyReader)) continue;
    if (!reader.isThere) console.log(`${name}: not installed`);
    for (const fault of reader.isThere ? ['cut', 'killed', 'stopped', 'update'] : []) {
      if (!fault.includes(onlyFault)) continue;
      const scene = await reader.start();
      try {
        if (scene.faults[fault] === undefined) continue;
        await scene.faults[fault]();
        await sleep(1500);
        console.log(`${name}, ${fault}: ${await scene.read()}`);
      } finally {
        await scene.stop();
      }
    }
  }
} finally {
  fs.rmSync(folder, { recursive: true, force: true });
}
