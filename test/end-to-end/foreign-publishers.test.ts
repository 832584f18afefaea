// Tests the example publishers in C and Python, compiled and run as the documentation describes.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT, waitFor, testPrograms } from '../support/processes.js';
import { pageWith, scrape } from './page.js';

/** Python with the publisher package of this project. */
const PYTHON = ['env', `PYTHONPATH=${join(PROJECT, 'sdk/python')}`, 'python3'];

/** Returns the names of the metrics on a page, without labels. */
const namesOf = (series: ReadonlyMap<string, string>): Set<string> =>
  new Set([...series.keys()].map((key) => key.slice(0, key.indexOf('{'))));

describe('a publisher', function () {
  this.slow(15_000);
  const programs = testPrograms();
  const exporterOf = (app: string, key: string) =>
    programs.exporter({ app, server_keys: [key] }).url();
  const closed = (url: string, key: string) =>
    waitFor('503 after a clean close', async () => {
      const { status, body } = await scrape(url);
      const reason = new RegExp(`server key ${key}: (publisher closed its segment|no segment)`);
      return status === 503 && reason.test(body) ? body : undefined;
    });

  it('in C compiles without warnings, and every type of value is on the page', async () => {
    const binary = programs.path('example');
    const source = join(PROJECT, 'sdk/c/example.c');
    const flags = ['-std=c11', '-Wall', '-Wextra', '-Werror', '-o', binary, source, '-pthread'];
    const compiled = spawnSync('cc', flags, { encoding: 'utf8' });
    expect(compiled.stderr).to.equal('');
    const program = programs.command([
      binary,
      ...['--server-key', 'c', '--context-id', programs.contextId, '--root', 'h.1.example'],
    ]);
    await program.line(/ready/);
    const url = await exporterOf('example', 'c');
    const series = await pageWith(
      url,
      (page) => Number(page.get('example_queue_requests_total{"object":"queue"}')) > 0,
      'the counter of the C example counts',
    );
    expect(namesOf(series)).to.include.members([
      'example_queue_requests_total',
      'example_queue_load',
      'example_application_phase_info',
      'example_queue_latency_seconds_bucket',
      'example_queue_latency_seconds_sum',
      'example_queue_latency_seconds_count',
      'example_queue_size_bytes',
      'example_queue_size_bytes_sum',
      'example_queue_size_bytes_count',
    ]);
    const session = (page: ReadonlyMap<string, string>) =>
      namesOf(page).has('example_session_received_bytes_total');
    await pageWith(url, session, 'an object that was added is on the page');
    await pageWith(url, (page) => !session(page), 'an object that was removed has left it');
    expect(await program.stop('SIGTERM')).to.deep.equal({ status: 0, signal: null });
    await closed(url, 'c');
    expect(programs.segments().filter((name) => name.endsWith('.c'))).to.deep.equal([]);
  });

  it('in Python needs only the standard library, and every type of value is on the page', async () => {
    // Start the exporter before the publisher, so that it misses no object that is added and removed.
    const url = await exporterOf('example', 'py');
    const program = programs.command([
      ...PYTHON,
      join(PROJECT, 'sdk/python/examples/example.py'),
      ...['--server-key', 'py', '--context-id', programs.contextId, '--root', 'h.1.example'],
    ]);
    await program.line(/ready/);
    const worker = (page: ReadonlyMap<string, string>) => namesOf(page).has('example_worker_pid');
    const series = await pageWith(url, worker, 'an object that was added is on the page');
    expect(namesOf(series)).to.include.members([
      'example_requests_done_total',
      'example_balance',
      'example_load',
      'example_even',
      'example_status_info',
      'example_latency_seconds_bucket',
      'example_latency_seconds_sum',
      'example_latency_seconds_count',
      'example_sizes_bytes',
      'example_sizes_bytes_sum',
      'example_sizes_bytes_count',
    ]);
    await pageWith(url, (page) => !worker(page), 'an object that was removed has left it');
    expect(await program.stop('SIGTERM')).to.deep.equal({ status: 0, signal: null });
    await closed(url, 'py');
    expect(programs.segments().filter((name) => name.endsWith('.py'))).to.deep.equal([]);
  });

  /** A program in each language that removes two of its four objects and two of its three variables. */
  const removing: Readonly<Record<string, () => readonly string[]>> = {
    C: () => {
      const source = programs.write(
        'removing.c',
        `#include "shm_publisher.h"
        int main(void) {
          shm_options options = shm_options_default();
          options.context_id = "${programs.contextId}";
          options.server_key = "removing-C";
          shm_publisher *publisher;
          shm_object root, ends, below, stays;
          shm_variable number;
          if (shm_publisher_open(&publisher, &options) != 0) return 1;
          shm_add_root(publisher, &root, "h.1.shop", "Shop", NULL);
          shm_add_object(&root, &ends, "h.1.shop.ends", "Till", NULL);
          shm_add_object(&ends, &below, "h.1.shop.ends.below", "Till", NULL);
          shm_add_object(&root, &stays, "h.1.shop.stays", "Till", NULL);
          shm_add_variable(&below, &number, "first", SHM_U64, NULL);
          shm_add_variable(&stays, &number, "kept", SHM_U64, NULL);
          shm_u64_set(&number, 1);
          shm_add_variable(&stays, &number, "removed", SHM_U64, NULL);
          if (shm_publisher_publish(publisher) != 0) return 1;
          shm_remove_object(&ends);
          shm_remove_variable(&number);
          fprintf(stderr, "ready\\n");
          for (;; sleep(1)) shm_publisher_notify(publisher);
        }
        `,
      );
      const binary = programs.path('removing');
      const words = ['-I', join(PROJECT, 'sdk/c'), '-o', binary, source, '-pthread'];
      expect(spawnSync('cc', words, { encoding: 'utf8' }).stderr).to.equal('');
      return [binary];
    },
    TypeScript: () => {
      const script = programs.write(
        'removing.mjs',
        `import { Publisher } from '${join(PROJECT, 'dist/native/publisher/publisher.js')}';
        const names = { serverKey: 'removing-TypeScript', contextId: '${programs.contextId}' };
        const publisher = new Publisher(names);
        const root = publisher.addRoot('h.1.shop', 'Shop');
        const ends = publisher.addObject(root, 'h.1.shop.ends', 'Till');
        const below = publisher.addObject(ends, 'h.1.shop.ends.below', 'Till');
        const stays = publisher.addObject(root, 'h.1.shop.stays', 'Till');
        publisher.addVariable(below, 'first', 'u64');
        publisher.addVariable(stays, 'kept', 'u64').set(1);
        const removed = publisher.addVariable(stays, 'removed', 'u64');
        publisher.place();
        publisher.removeObject(ends);
        publisher.removeVariable(removed);
        console.error('ready');
        setInterval(() => publisher.notify(), 1000);
        `,
      );
      return [process.execPath, script];
    },
    Python: () => {
      const script = programs.write(
        'removing.py',
        `import sys, time
sys.path.insert(0, '${join(PROJECT, 'sdk/python')}')
import shm_publisher as shm
publisher = shm.Publisher('removing-Python', '${programs.contextId}')
root = publisher.add_root('h.1.shop', 'Shop')
ends = publisher.add_object(root, 'h.1.shop.ends', 'Till')
below = publisher.add_object(ends, 'h.1.shop.ends.below', 'Till')
stays = publisher.add_object(root, 'h.1.shop.stays', 'Till')
publisher.add_variable(below, 'first', shm.U64)
publisher.add_variable(stays, 'kept', shm.U64, value=1)
removed = publisher.add_variable(stays, 'removed', shm.U64)
publisher.publish()
ends.remove()
removed.remove()
print('ready', file=sys.stderr, flush=True)
while True:
    publisher.notify()
    time.sleep(1)
`,
      );
      return ['python3', script];
    },
  };
  for (const [language, words] of Object.entries(removing))
    it(`in ${language} removes objects, which then disappear from the page`, async () => {
      await programs.command(words()).line(/ready/);
      const segment = ['--context-id', programs.contextId, '--server-key', `removing-${language}`];
      const { stdout } = programs.run('dump', ...segment);
      expect(stdout)
        .to.include('2 objects, 1 variable')
        .and.to.not.match(/ends|removed/);
    });

  it('in Python gives its segment a name again after the name was removed', async () => {
    const example = join(PROJECT, 'sdk/python/examples/example.py');
    const names = ['--server-key', 'away', '--context-id', programs.contextId];
    const program = programs.command([...PYTHON, example, ...names, '--root', 'h.1.example']);
    await program.line(/ready/);
    const url = await exporterOf('example', 'away');
    const requests = (page: ReadonlyMap<string, string>) =>
      Number(page.get('example_requests_done_total{"object":"@root"}'));
    const before = requests(await pageWith(url, (page) => requests(page) > 0, 'it is served'));
    rmSync(join('/dev/shm', `${programs.contextId}.pool.away`));
    const isThere = () => programs.segments().some((name) => name.endsWith('.away')) || undefined;
    await waitFor('the segment has its name again', isThere);
    await pageWith(url, (page) => requests(page) > before, 'it is served again');
    expect(await program.stop('SIGTERM')).to.deep.equal({ status: 0, signal: null });
    expect(isThere()).to.equal(undefined);
  });

  it('in Python writes the bytes that sdk/python/check.py expects', () => {
    const check = join(PROJECT, 'sdk/python/check.py');
    const { status, stdout, stderr } = spawnSync('python3', [check], { encoding: 'utf8' });
    expect(status, stdout + stderr).to.equal(0);
  });
});
