// Tests the sums over eight workers in C that count under load, are killed, restarted and scaled in.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { MODES } from '../support/modes.js';
import { PROJECT, delay, testPrograms } from '../support/processes.js';
import type { Running } from '../support/processes.js';
import { pageWith, readyPage, seriesKey, seriesOf } from './page.js';

/** Counts as fast as it can. A line on stdin makes it print its count, and pause or, after a `q`, end in order. */
const WORKER = `
#include "shm_publisher.h"
#include <poll.h>
int main(int count, char **arguments) {
  if (count != 4) return 2;
  shm_options segment = shm_options_default();
  segment.context_id = arguments[1];
  segment.server_key = arguments[2];
  segment.heartbeat_ms = 0;
  shm_publisher *publisher;
  shm_object root;
  shm_variable requests, latency, open;
  shm_variable_options counter = shm_variable_options_default();
  counter.kind = SHM_COUNTER;
  static const double bounds[] = {0.5};
  shm_variable_options histogram = shm_variable_options_default();
  histogram.schema = bounds;
  histogram.schema_entries = 1;
  shm_variable_options gauge = shm_variable_options_default();
  gauge.kind = SHM_GAUGE;
  if (shm_publisher_open(&publisher, &segment) != 0) return 1;
  if (shm_add_root(publisher, &root, arguments[3], "Shop", NULL) != 0) return 1;
  if (shm_add_variable(&root, &requests, "requests", SHM_U64, &counter) != 0) return 1;
  if (shm_add_variable(&root, &latency, "latency", SHM_HISTOGRAM, &histogram) != 0) return 1;
  if (shm_add_variable(&root, &open, "open", SHM_I64, &gauge) != 0) return 1;
  shm_i64_set(&open, 1);
  if (shm_publisher_publish(publisher) != 0) return 1;
  fprintf(stderr, "ready\\n");
  struct pollfd input = {0, POLLIN, 0};
  for (unsigned long total = 0;;) {
    for (int i = 0; i < 1000; i++, total++) {
      shm_u64_add(&requests, 1);
      shm_histogram_observe(&latency, total % 2);
    }
    char line[16];
    if (poll(&input, 1, 1) == 0) continue;
    if (fgets(line, sizeof line, stdin) == NULL) break;
    fprintf(stderr, "total %lu\\n", total);
    if (line[0] == 'q') break;
    if (fgets(line, sizeof line, stdin) == NULL) break;
  }
  shm_publisher_close(publisher);
  return 0;
}
`;

describe('the sums over workers', function () {
  this.slow(30_000);
  const programs = testPrograms();
  let binary = '';
  const compile = () => {
    binary = programs.path('worker');
    const source = programs.write('worker.c', WORKER);
    const flags = ['-std=c11', '-D_GNU_SOURCE', '-O1', '-Wall', '-I', `${PROJECT}/sdk/c`];
    const { stderr } = spawnSync('cc', [...flags, '-o', binary, source, '-pthread'], {
      encoding: 'utf8',
    });
    expect(stderr).to.equal('');
  };
  const start = async (number: number): Promise<Running> => {
    const words = [binary, programs.contextId, `shop-${number}`, `host.${number}.shop`];
    const worker = programs.command(words, { stdin: 'pipe' });
    await worker.line(/ready/);
    return worker;
  };
  /** Makes a worker pause or end, and returns its count. */
  const pause = async (worker: Running, line = ''): Promise<bigint> => {
    worker.type(line);
    const [, total = ''] = await worker.line(/total (\d+)\n$/);
    return BigInt(total);
  };
  const requests = seriesKey('shop_requests_total', { object: '@root' });

  for (const mode of MODES)
    it(`equal the counts of the workers, and never fall, while workers end and return (${mode})`, async () => {
      compile();
      const target =
        '[[targets]]\napp = "shop"\nserver_key = "all"\nformat = "workers"\n' +
        'format_settings = { segments = ["shop-*"] }\n' +
        '[[targets]]\napp = "shop"\nserver_key = "each"\nformat = "workers"\n' +
        'format_settings = { segments = ["shop-*"], gauges = "each" }\n';
      const settings = { worker_execution_mode: mode, render_min_interval_ms: 1 };
      const exporter = programs.start('exporter', ['--config', programs.config(settings, target)]);
      const listener = await exporter.url();
      const url = `${listener}?server_key=all`;
      const workers = await Promise.all([1, 2, 3, 4, 5, 6, 7, 8].map(start));
      await pageWith(url, (page) => page.get('shm_workers{}') === '8', '8 workers');
      let last = 0n;
      const scraper = { isRunning: true };
      const scraping = (async () => {
        while (scraper.isRunning) {
          const now = BigInt(seriesOf(await readyPage(url)).get(requests) ?? '-1');
          expect(now >= last, `${last} then ${now}`).to.equal(true);
          last = now;
          await delay(20);
        }
      })();
      const [restarted, killed, closed, ...others] = workers as [
        Running,
        Running,
        Running,
        ...Running[],
      ];
      const ended = [await pause(restarted), await pause(killed), await pause(closed, 'q')];
      await Promise.all([restarted.stop('SIGKILL'), killed.stop('SIGKILL'), closed.ended]);
      const again = await start(1);
      const isSettled = (page: ReadonlyMap<string, string>) =>
        page.get('shm_workers{}') === '6' && page.get('shm_workers_ended_total{}') === '3';
      await pageWith(url, isSettled, 'six workers, and three that have ended');
      const living = await Promise.all([again, ...others].map((worker) => pause(worker)));
      const total = [...ended, ...living].reduce((sum, each) => sum + each, 0n);
      const page = await pageWith(
        url,
        (each) => each.get(requests) === String(total),
        `a sum of ${total}`,
      );
      scraper.isRunning = false;
      await scraping;
      expect(page.get(seriesKey('shop_open', { object: '@root' }))).to.equal('6');
      expect(page.get(seriesKey('shop_latency_count', { object: '@root' }))).to.equal(
        String(total),
      );
      const open = [1, 4, 5, 6, 7, 8].map((number) =>
        seriesKey('shop_open', { object: '@root', worker: `shop-${number}` }),
      );
      const isOfEach = (each: ReadonlyMap<string, string>) =>
        [...each.keys()].filter((key) => key.startsWith('shop_open{')).length === open.length &&
        open.every((key) => each.get(key) === '1');
      await pageWith(`${listener}?server_key=each`, isOfEach, 'a gauge of each worker');
      await Promise.all([again, ...others].map((worker) => worker.stop('SIGKILL')));
    });
});
