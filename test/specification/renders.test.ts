import { expect } from 'chai';
import { readyPage, scrape } from '../end-to-end/page.js';
import { inBothModes } from '../support/modes.js';
import { delay, theatre } from '../support/processes.js';
import { application, internal } from './shop.js';
import { shows } from './shows.js';

/** Between two updates of the scenario. */
const UPDATE_MS = 25;

inBothModes('renders', function (worker_execution_mode) {
  this.slow(4000);
  const stage = theatre();
  const COUNT = 'shop_shop_count{"object":"@root"}';
  const root = (value: number) => ({
    id: 'h.1.shop',
    class: 'Shop',
    variables: { count: { type: 'u64', value } },
  });
  const HITS = 'internal_scrape_render_cache_hits_total';
  const MISSES = 'internal_scrape_render_cache_misses_total';

  /** An exporter of the tree that is updated all the time. */
  const exporter = async (settings: Readonly<Record<string, unknown>> = {}): Promise<string> => {
    const url = await stage
      .exporter({ app: 'shop', server_keys: ['1'], worker_execution_mode, ...settings })
      .url();
    await readyPage(url);
    return url;
  };

  /** What scrapes one after the other show: the values in order, each with its first moment. */
  async function watch(url: string, forMs: number) {
    const seen: { readonly value: number; readonly atMs: number }[] = [];
    const end = performance.now() + forMs;
    let page = '';
    while (performance.now() < end) {
      await delay(4);
      page = (await scrape(url)).body;
      const value = Number(application(page)[COUNT]);
      if (seen.at(-1)?.value !== value) seen.push({ value, atMs: performance.now() });
    }
    return { seen, page };
  }
  /** Times between two renders; the first and the last value were not seen whole. */
  const spans = (seen: readonly { readonly atMs: number }[]): number[] =>
    seen
      .slice(1)
      .map(({ atMs }, index) => atMs - (seen[index]?.atMs ?? 0))
      .slice(1);

  before(async () => {
    const steps = Array.from({ length: 900 }, (_, index) => ({
      after_ms: UPDATE_MS,
      set: { 'h.1.shop': { count: index + 2 } },
    }));
    await stage.play({ server_key: '1', objects: [root(1)], steps, repeat: true });
  });

  shows('1.9', () => {
    it('are spaced by render_min_interval_ms, and show the newest value each', async () => {
      const url = await exporter({ render_min_interval_ms: 500 });
      const { seen, page } = await watch(url, 2100);
      expect(seen.length).to.be.within(3, 6);
      for (const span of spans(seen)) expect(span).to.be.within(400, 990);
      const steps = seen.slice(1).map(({ value }, index) => value - (seen[index]?.value ?? 0));
      for (const step of steps.slice(1)) expect(step).to.be.within(4, 39);
      expect(internal(page, HITS)).to.be.above(10 * internal(page, MISSES));
    });
  });

  shows('2.1 render_min_interval_ms', () => {
    shows('8 render_min_interval_ms', () => {
      it('is 250 by default', async () => {
        const { seen } = await watch(await exporter(), 1300);
        expect(seen.length).to.be.within(4, 7);
        for (const span of spans(seen)) expect(span).to.be.within(170, 490);
      });
    });
  });

  shows('8 render_min_interval_ms', () => {
    it('0 disables the spacing: pages show each update', async () => {
      const { seen } = await watch(await exporter({ render_min_interval_ms: 0 }), 1000);
      expect(seen.length).to.be.above(12);
    });
  });
});
