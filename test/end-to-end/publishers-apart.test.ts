// Tests several publishers in the threads and processes of one program, as the pages about publishing
// describe.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { needs } from '../support/needs.js';
import { PROJECT, testPrograms } from '../support/processes.js';
import { readyPage } from './page.js';

const PUBLISHER = join(PROJECT, 'dist/native/publisher/publisher.js');

/** Kills a process if it is running. */
const end = (pid: string) => spawnSync('kill', ['-KILL', pid]);

describe('a program with several publishers', function () {
  this.slow(10_000);
  const programs = testPrograms();

  const configOf = (...keys: readonly string[]) => {
    const tables = keys.map((key) => `[[targets]]\napp = "shop"\nserver_key = "${key}"\n`);
    const settings = { metrics_http_enabled: false, metrics_interval_seconds: 20 };
    return programs.config(settings, tables.join(''));
  };

  /** Runs an exporter once for targets of application `shop`, and returns its output and exit status. */
  const once = (...keys: readonly string[]) =>
    programs.run('exporter', '--config', configOf(...keys), '--once', '--stdout-format', 'merged');

  it('has one publisher and one target for each worker thread', async () => {
    const script = programs.write(
      'threads.mjs',
      `import { Worker, isMainThread, threadId } from 'node:worker_threads';
      import { Publisher } from '${PUBLISHER}';
      const serverKey = 'thread' + threadId;
      const publisher = new Publisher({ serverKey, contextId: '${programs.contextId}' });
      const root = publisher.addRoot('host.1.shop', 'Shop');
      publisher.addVariable(root, 'thread', 'u64').set(threadId);
      publisher.place();
      setInterval(() => publisher.notify(), 1000);
      if (isMainThread) new Worker(new URL(import.meta.url));
      else console.error('both');
      `,
    );
    await programs.command([process.execPath, script]).line(/both/);
    const { status, stdout } = once('thread0', 'thread1');
    expect(status).to.equal(0);
    for (const number of [0, 1])
      expect(stdout).to.match(
        new RegExp(`^shop_thread\\{.*server_key="thread${number}".*\\} ${number}$`, 'm'),
      );
  });

  it('frees its server keys when it is killed, although a program that it started keeps running', async () => {
    const script = programs.write(
      'parent.mjs',
      `import { spawn } from 'node:child_process';
      import { Publisher } from '${PUBLISHER}';
      const publisher = new Publisher({ serverKey: 'killed', contextId: '${programs.contextId}' });
      publisher.place();
      if (process.argv[2] === 'start') console.error('child', spawn('sleep', ['60']).pid);
      setInterval(() => publisher.notify(), 1000);
      if (process.argv[2] !== 'start') console.error('placed');
      `,
    );
    const program = programs.command([process.execPath, script, 'start']);
    const [, child = ''] = await program.line(/child (\d+)/);
    try {
      await program.stop('SIGKILL');
      await programs.command([process.execPath, script]).line(/placed/);
      process.kill(Number(child), 0);
    } finally {
      end(child);
    }
  });

  it('in C has one publisher for each forked process, and an executed program inherits no publisher', async () => {
    const source = programs.write(
      'processes.c',
      `#include "shm_publisher.h"
      static shm_publisher *publish(const char *key, uint64_t number) {
        shm_options options = shm_options_default();
        options.context_id = "${programs.contextId}";
        options.server_key = key;
        shm_publisher *publisher;
        shm_object root;
        shm_variable process;
        if (shm_publisher_open(&publisher, &options) != 0) exit(1);
        shm_add_root(publisher, &root, "host.1.shop", "Shop", NULL);
        shm_add_variable(&root, &process, "process", SHM_U64, NULL);
        shm_u64_set(&process, number);
        if (shm_publisher_publish(publisher) != 0) exit(1);
        return publisher;
      }
      int main(void) {
        pid_t child = fork();
        shm_publisher *publisher = child == 0 ? publish("child", 1) : publish("parent", 0);
        if (child == 0) {
          pid_t other = fork();
          if (other == 0) execlp("sleep", "sleep", "60", NULL);
          fprintf(stderr, "child %d other %d\\n", getpid(), other);
        }
        for (;; sleep(1)) shm_publisher_notify(publisher);
      }
      `,
    );
    const binary = programs.path('processes');
    const words = ['-I', join(PROJECT, 'sdk/c'), '-o', binary, source, '-pthread'];
    expect(spawnSync('cc', words, { encoding: 'utf8' }).stderr).to.equal('');
    const program = programs.command([binary]);
    const [, child = '', other = ''] = await program.line(/child (\d+) other (\d+)/);
    try {
      const { status, stdout } = once('parent', 'child');
      expect(status).to.equal(0);
      expect(stdout).to.match(/^shop_process\{.*server_key="parent".*\} 0$/m);
      expect(stdout).to.match(/^shop_process\{.*server_key="child".*\} 1$/m);
      end(child);
      const config = configOf('child');
      const { stdout: seen } = programs.run(
        'exporter',
        '--config',
        config,
        '--check-config',
        '--live',
      );
      expect(seen).to.match(/server key child.* died/);
    } finally {
      end(child);
      end(other);
      await program.stop('SIGKILL');
    }
  });

  it('is served in a time namespace with an earlier clock', async function () {
    const namespace = ['--time', '--monotonic=-60', '--fork', '--kill-child'];
    const probe = spawnSync('unshare', [...namespace, 'true']);
    needs(this, probe.status === 0, 'this process may not set back the clock of a namespace');
    const simulator = join(PROJECT, 'dist/bin/shm_simulator.js');
    const words = ['--app', 'shop', '--server-key', 'behind', '--context-id', programs.contextId];
    const program = programs.command([process.execPath, simulator, ...words], {
      under: ['unshare', ...namespace],
    });
    await program.line(/^ready$/m);
    const settings = { app: 'shop', server_keys: ['behind'], stalled_after_seconds: 1 };
    await readyPage(await programs.exporter(settings).url());
    await program.stop('SIGKILL');
  });
});
