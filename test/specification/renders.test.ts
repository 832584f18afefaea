import { expect } from 'chai';
import { readyPage, scrape } from '../end-to-end/page.js';
import { delay, eventually, theatre } from '../support/processes.js';
import { aside, application, internal } from './shop.js';
import { shows } from './shows.js';

/** Between two updates of the scenario. */
const UPDATE_MS = 25;

describe('renders', function () {
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
    const url = await stage.exporter({ app: 'shop', server_keys: ['1'], ...settings }).url();
    await readyPage(url);
    return url;
  };

  /** What scrapes without a pause show: the values in order, each with its first moment. */
  async function watch(url: string, forMs: number) {
    const seen: { readonly value: number; readonly atMs: number }[] = [];
    const end = performance.now() + forMs;
    let page = '';
    while (performance.now() < end) {
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

  /** The pages before and after a single update that was noticed while nobody asked. */
  async function aroundUpdate(key: string, render_min_interval_ms: number) {
    const set = { 'h.1.shop': { count: 2 } };
    const settings = { app: 'shop', server_keys: [key], render_min_interval_ms };
    const url = await stage.exporter(settings).url();
    await stage.play({ server_key: key, objects: [root(1)], steps: [{ after_ms: 1500, set }] });
    await readyPage(url);
    const refreshes = async (): Promise<number> => {
      const name = `shm_exporter_target_refresh_total{"app":"shop","server_key":"${key}"}`;
      return Number((await aside(url)).get(name));
    };
    const before = (await scrape(url)).body;
    const count = await refreshes();
    await eventually('the update is noticed', async () =>
      (await refreshes()) > count ? true : undefined,
    );
    const after = (await scrape(url)).body;
    expect(application(before)[COUNT]).to.equal('1');
    expect(application(after)[COUNT]).to.equal('2');
    return { before, after };
  }

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
      const { seen, page } = await watch(url, 2600);
      expect(seen.length).to.be.within(4, 7);
      for (const span of spans(seen)) expect(span).to.be.within(400, 990);
      const steps = seen.slice(1).map(({ value }, index) => value - (seen[index]?.value ?? 0));
      for (const step of steps.slice(1)) expect(step).to.be.within(4, 39);
      expect(internal(page, HITS)).to.be.above(10 * internal(page, MISSES));
    });

    it('are deferred once for updates inside the spacing', async () => {
      const url = await exporter({ render_min_interval_ms: 600 });
      await delay(650);
      const rendered = (await scrape(url)).body;
      await delay(100);
      const inside = (await scrape(url)).body;
      expect(application(inside)).to.deep.equal(application(rendered));
      await delay(700);
      const after = (await scrape(url)).body;
      // Another text that no scrape had to make: it was made when the spacing was over.
      expect(application(after)[COUNT]).not.to.equal(application(rendered)[COUNT]);
      expect(internal(after, MISSES)).to.equal(internal(rendered, MISSES));
      expect(internal(after, HITS)).to.equal(internal(rendered, HITS) + 2);
    });

    it('happen on demand: what changed while nobody asked is rendered by the scrape', async () => {
      const { before, after } = await aroundUpdate('3', 250);
      expect(internal(after, MISSES)).to.equal(internal(before, MISSES) + 1);
      expect(internal(after, HITS)).to.equal(internal(before, HITS));
    });
  });

  shows('2.1 render_min_interval_ms', () => {
    shows('8 render_min_interval_ms', () => {
      it('is 250 by default', async () => {
        const { seen } = await watch(await exporter(), 1600);
        expect(seen.length).to.be.within(5, 8);
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

  shows('2.1 render_min_interval_ms', () => {
    it('0 renders at each update: a scrape after it finds it rendered', async () => {
      const { before, after } = await aroundUpdate('2', 0);
      expect(internal(after, MISSES)).to.equal(internal(before, MISSES));
      expect(internal(after, HITS)).to.equal(internal(before, HITS) + 1);
    });
  });
});
