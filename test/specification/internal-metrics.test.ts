import { expect } from 'chai';
import { readyPage, scrape } from '../end-to-end/page.js';
import { SPECIFIED_MODE as worker_execution_mode } from '../support/modes.js';
import { delay, testPrograms } from '../support/processes.js';
import { SECTIONS } from './rows.js';
import { application, internal, shop, shopSeries } from './shop.js';
import { shows } from './shows.js';

/** The name and type of each internal metric, from the rows of the specification. */
const NAMED = SECTIONS.flatMap(({ rows }) =>
  rows.flatMap(([number, sentence]) => {
    const [, name = '', type = ''] = /^Metric `(\w+)`, type (\w+):/.exec(sentence) ?? [];
    return name === '' ? [] : [{ number, name, type }];
  }),
);

describe('the internal metrics', function () {
  this.slow(3000);
  const programs = testPrograms();
  let url = '';
  let startedMs = 0;
  /** The first page with status 200, then the pages of four more scrapes. */
  const pages: string[] = [];
  const series = (name: string): number[] => pages.map((page) => internal(page, name));

  before(async () => {
    startedMs = performance.now();
    // The tree has no updates, so only scrapes cause refreshes.
    programs.publish({ server_key: '1', objects: shop('h.1.shop', 1) });
    url = await programs.exporter({ app: 'shop', server_keys: ['1'], worker_execution_mode }).url();
    pages.push(await readyPage(url));
    for (let scrapes = 0; scrapes < 4; scrapes++) pages.push((await scrape(url)).body);
  });

  shows('2.5', () => {
    it('each page has every internal metric next to the application metrics', () => {
      for (const page of pages) {
        expect(application(page)).to.deep.equal(shopSeries('shop', 1));
        for (const { name } of NAMED) expect(page).to.match(new RegExp(`^${name} \\S+$`, 'm'));
      }
    });

    for (const { name, type } of NAMED)
      it(`${name} is a ${type} with one line of help and no labels`, () => {
        const [page = ''] = pages;
        const text = new RegExp(`^# HELP ${name} .+\n# TYPE ${name} ${type}\n${name} \\S+$`, 'm');
        expect(page).to.match(text);
      });
  });

  const HITS = 'internal_scrape_render_cache_hits_total';
  const MISSES = 'internal_scrape_render_cache_misses_total';

  shows(`2.5 shm_exporter_${HITS}`, () => {
    it('each scrape of an unchanged tree counts one hit', () =>
      expect(series(HITS)).to.deep.equal([0, 1, 2, 3, 4]));
  });

  shows(`2.5 shm_exporter_${MISSES}`, () => {
    it('only the first scrape of an unchanged tree counts a miss', () =>
      expect(series(MISSES)).to.deep.equal([1, 1, 1, 1, 1]));
  });

  shows('2.5 shm_exporter_target_refresh_total', () => {
    it('each scrape of an unchanged tree counts one refresh', () => {
      const [first = 0, ...more] = series('target_refresh_total');
      expect(first).to.be.at.least(1);
      // The refresh of a scrape is counted before the page is written, so the page includes it.
      expect(more).to.deep.equal([1, 2, 3, 4].map((scrapes) => first + scrapes));
    });
  });

  const sampled = (part: string): number[][] =>
    ['p50', 'p95', 'p99'].map((mark) => series(`${part}_${mark}_ms`));
  /**
   * Checks that a sampled percentile is at least the next lower percentile and at most the duration of the
   * test.
   */
  const isPlausible = (part: string, mark: 'p50' | 'p95' | 'p99'): void => {
    const all = sampled(part);
    const at = ['p50', 'p95', 'p99'].indexOf(mark);
    for (const [page, value] of (all[at] ?? []).entries()) {
      expect(value).to.be.within(all[at - 1]?.[page] ?? 0, performance.now() - startedMs);
      expect(value).to.be.above(0);
    }
  };
  for (const part of ['target_refresh_duration', 'worker_dequeue_latency'])
    for (const [mark, lower] of [
      ['p50', '0'],
      ['p95', 'the median'],
      ['p99', 'the 95th percentile'],
    ] as const)
      shows(`2.5 shm_exporter_${part}_${mark}_ms`, () => {
        it(`the value lies between ${lower} and the duration of the test`, () =>
          isPlausible(part, mark));
      });

  shows('2.5 shm_exporter_worker_dequeue_latency_avg_ms', () => {
    it('the average lies between 0 and the 99th percentile', () => {
      const [, , longest = []] = sampled('worker_dequeue_latency');
      for (const [page, mean] of series('worker_dequeue_latency_avg_ms').entries())
        expect(mean).to.be.within(Number.MIN_VALUE, longest[page] ?? 0);
    });
  });

  shows('2.5 shm_exporter_worker_busy_idle_ratio', () => {
    it('the ratio is at most 1 in a nearly idle worker, and falls while the worker waits', async () => {
      const before = internal((await scrape(url)).body, 'worker_busy_idle_ratio');
      expect(before).to.be.within(Number.MIN_VALUE, 1);
      await delay(1000);
      expect(internal((await scrape(url)).body, 'worker_busy_idle_ratio')).to.be.below(before);
    });
  });
});
