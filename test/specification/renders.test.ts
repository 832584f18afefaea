import { expect } from 'chai';
import { readyPage, scrape } from '../end-to-end/page.js';
import { SPECIFIED_MODE as worker_execution_mode } from '../support/modes.js';
import { delay, testPrograms } from '../support/processes.js';
import { application, internal } from './shop.js';
import { shows } from './shows.js';

/** The time between two updates in the scenario. */
const UPDATE_MS = 25;

describe('renders', function () {
  this.slow(4000);
  const programs = testPrograms();
  const COUNT = 'shop_count{"object":"@root"}';
  const root = (value: number) => ({
    id: 'h.1.shop',
    class: 'Shop',
    variables: { count: { type: 'u64', value } },
  });
  const HITS = 'internal_scrape_render_cache_hits_total';
  const MISSES = 'internal_scrape_render_cache_misses_total';

  /** Starts an exporter of a tree that is updated all the time. */
  const exporter = async (settings: Readonly<Record<string, unknown>> = {}): Promise<string> => {
    const url = await programs
      .exporter({ app: 'shop', server_keys: ['1'], worker_execution_mode, ...settings })
      .url();
    await readyPage(url);
    return url;
  };

  /**
   * Scrapes for `forMs`, and longer until four values were seen. Returns the new values in order, the times at which
   * they were seen, and the total duration.
   */
  async function watch(url: string, forMs: number) {
    const values: number[] = [];
    const seenAtMs: number[] = [];
    const start = performance.now();
    let page = '';
    while (performance.now() - start < forMs || values.length < 4) {
      await delay(4);
      page = (await scrape(url)).body;
      const value = Number(application(page)[COUNT]);
      if (values.at(-1) === value) continue;
      values.push(value);
      seenAtMs.push(performance.now());
    }
    return { values, seenAtMs, page, tookMs: performance.now() - start };
  }
  const gapsOf = (timesMs: readonly number[]): readonly number[] =>
    timesMs
      .slice(1)
      .map((atMs, index) => atMs - (timesMs[index] ?? 0))
      .toSorted((a, b) => a - b);
  /**
   * Checks that the values fit the interval. On a busy machine, scrapes may see only half of the renders, and some
   * gaps are longer.
   */
  const expectSpaced = (
    { seenAtMs, tookMs }: { readonly seenAtMs: readonly number[]; readonly tookMs: number },
    renderMinIntervalMs: number,
  ): void => {
    expect(seenAtMs.length).to.be.at.most(tookMs / renderMinIntervalMs + 2);
    const gaps = gapsOf(seenAtMs);
    expect(gaps[Math.floor(gaps.length / 2)], 'the median').to.be.below(2 * renderMinIntervalMs);
  };

  before(() => {
    const steps = Array.from({ length: 3000 }, (_, index) => ({
      after_ms: UPDATE_MS,
      set: { 'h.1.shop': { count: index + 2 } },
    }));
    programs.publish({ server_key: '1', objects: [root(1)], steps, repeat: true });
  });

  shows('1.9', () => {
    it('renders are at least render_min_interval_ms apart, and each shows the newest value', async () => {
      const url = await exporter({ render_min_interval_ms: 500 });
      const watched = await watch(url, 2100);
      expectSpaced(watched, 500);
      const { values, page } = watched;
      // Of the twenty updates between two renders, a page shows only the last one.
      const [first = NaN] = values;
      expect(values.at(-1)).to.be.above(first + 4 * (values.length - 1));
      expect(internal(page, HITS)).to.be.above(2 * internal(page, MISSES));
    });
  });

  shows(['2.1 render_min_interval_ms', '8 render_min_interval_ms'], () => {
    it('the default interval is 250 ms', async () => {
      expectSpaced(await watch(await exporter(), 1300), 250);
    });
  });

  shows('8 render_min_interval_ms', () => {
    it('with an interval of 0, pages show each update', async () => {
      const { seenAtMs } = await watch(await exporter({ render_min_interval_ms: 0 }), 1500);
      // On a busy machine some gaps are longer, so check one of the shortest.
      expect(gapsOf(seenAtMs)[2], 'the third shortest').to.be.below(125);
    });
  });
});
