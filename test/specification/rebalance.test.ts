import { expect } from 'chai';
import { join } from 'node:path';
import { applicationPart, readyPage, scrape } from '../end-to-end/page.js';
import { SPECIFIED_MODE as worker_execution_mode } from '../support/modes.js';
import { PROJECT, delay, waitFor, testPrograms } from '../support/processes.js';
import type { Running } from '../support/processes.js';
import { internal, targetOf, targets } from './shop.js';
import { shows } from './shows.js';

/** The time between two rebalancing passes of an exporter. */
const PASS_MS = 30_000;
/**
 * By which factor to shorten the time between passes, for each attempt. On a busy machine the first pages
 * take seconds, so later attempts shorten it less.
 */
const HURRY = [10, 4, 1];
const SHORTEN_INTERVALS = new URL('../support/shorten-intervals.js', import.meta.url).href;
/** Two targets that `hash` puts into partition 0 if there are two partitions. */
const KEYS = ['2', '5'];
const MOVES = 'worker_rebalance_total';
const LAST = 'worker_rebalance_last_duration_ms';
const HITS = 'internal_scrape_render_cache_hits_total';
const MISSES = 'internal_scrape_render_cache_misses_total';

/** The facts about a target in the internal metrics of its page. */
const factsOf = (page: string) => ({
  partition: targetOf(page)['partition'],
  moves: internal(page, MOVES),
  lastMs: internal(page, LAST),
  scrapes: internal(page, HITS) + internal(page, MISSES),
  refreshes: internal(page, 'target_refresh_total'),
  series: internal(page, 'target_series'),
});
type Facts = ReturnType<typeof factsOf>;

describe('rebalancing', function () {
  this.slow(4000);
  const programs = testPrograms();
  /** The facts about each target, from its first page on. */
  const shown: readonly Facts[][] = KEYS.map(() => []);
  const statuses = new Set<number>();
  let moving: Running;
  let resting: Running;
  /** The factor of `HURRY` that is in use. */
  let times = 1;
  /** The facts about the targets at the end, from the exporter that does not rebalance. */
  let still: readonly Facts[] = [];

  /** Starts an exporter that differs from the real one only in a shorter time between rebalancing passes. */
  const exporter = (settings: Readonly<Record<string, unknown>>): Running => {
    const tables = targets(...KEYS.map((server_key) => ({ app: 'ads', server_key })));
    const busy = { target_workers: 2, render_min_interval_ms: 0, worker_execution_mode };
    const config = programs.config({ ...busy, ...settings }, tables);
    const program = [
      process.execPath,
      '--import',
      `${SHORTEN_INTERVALS}?times=${times}`,
      join(PROJECT, 'dist/bin/shm_exporter.js'),
    ];
    return programs.command([...program, '--config', config]);
  };
  const page = async (url: string, key: string): Promise<Facts> => {
    const { status, body } = await scrape(`${url}?server_key=${key}`);
    statuses.add(status);
    return factsOf(body.slice(applicationPart(body).length));
  };
  const all = async (url: string): Promise<readonly Facts[]> =>
    Promise.all(KEYS.map((key) => page(url, key)));
  const note = async (url: string): Promise<void> => {
    for (const [index, facts] of (await all(url)).entries()) shown[index]?.push(facts);
  };
  const now = (): readonly (Facts | undefined)[] => shown.map((facts) => facts.at(-1));

  /**
   * Starts an exporter that rebalances, records the facts about its targets before its first pass, and
   * returns its URL.
   */
  async function begin(): Promise<string> {
    for (times of HURRY) {
      moving = exporter({ worker_rebalance_enabled: true });
      const url = await moving.url();
      await Promise.all(KEYS.map((key) => readyPage(`${url}?server_key=${key}`)));
      await note(url);
      if (shown.every(([first]) => first?.lastMs === 0)) return url;
      for (const facts of shown) facts.length = 0;
      await moving.stop();
    }
    throw new Error('The first pages came after the first pass');
  }

  before(async () => {
    const tree = ['--app', 'ads', '--objects', '600', '--rate', '40', '--change-fraction', '0.3'];
    await Promise.all(KEYS.map((key) => programs.simulator(...tree, '--server-key', key)));
    const url = await begin();
    await waitFor('a move', async () => {
      await note(url);
      await delay(30);
      return now().some((facts) => facts?.partition !== '0') ? true : undefined;
    });
    resting = exporter({});
    const other = await resting.url();
    for (const key of KEYS) await readyPage(`${other}?server_key=${key}`);
    // The pass that moved a target may end after the move. Wait for one more pass, which finds nothing to do.
    const passes = new Set<number>();
    await waitFor('another pass', async () => {
      await note(url);
      await delay(200);
      for (const facts of now())
        if (facts?.moves === 1 && facts.lastMs > 0) passes.add(facts.lastMs);
      return passes.size > 1 ? true : undefined;
    });
    still = await all(other);
  });

  shows('2.1 worker_rebalance_enabled', () => {
    it('if enabled, rebalancing moves exactly one of two busy targets to another partition', async () => {
      expect(shown.map(([first]) => first?.partition)).to.deep.equal(['0', '0']);
      const last = now().map((facts) => facts?.partition);
      expect(last.toSorted()).to.deep.equal(['0', '1']);
      await moving.line(/ target ads on [25] moved from partition 0 to 1\n/);
    });

    it('a move loses neither readiness nor metrics nor counts', () => {
      expect([...statuses]).to.deep.equal([200]);
      for (const facts of shown) {
        const [first] = facts;
        expect(facts.map(({ scrapes }) => scrapes)).to.deep.equal(
          facts.map((_, index) => (first?.scrapes ?? 0) + index),
        );
        const refreshes = facts.map((each) => each.refreshes);
        expect(refreshes).to.deep.equal(refreshes.toSorted((a, b) => a - b));
        for (const { series } of facts) expect(series).to.be.above(0.8 * (first?.series ?? 0));
      }
    });

    it('by default, no target moves', () => {
      expect(still.map(({ partition }) => partition)).to.deep.equal(['0', '0']);
      expect(resting.stderr).not.to.contain('moved from partition');
    });
  });

  shows(`2.5 shm_exporter_${MOVES}`, () => {
    it('the count is 0 before the first move and 1 after it, on the pages of all targets', () => {
      for (const facts of shown)
        expect([...new Set(facts.map(({ moves }) => moves))]).to.deep.equal([0, 1]);
    });

    it('the count is 0 if rebalancing is disabled', () =>
      expect(still.map(({ moves }) => moves)).to.deep.equal([0, 0]));
  });

  shows(`2.5 shm_exporter_${LAST}`, () => {
    it('the duration is 0 before the first pass, and then shorter than the interval between two passes', () => {
      for (const facts of shown) {
        expect(facts[0]?.lastMs).to.equal(0);
        expect(facts.at(-1)?.lastMs).to.be.within(Number.MIN_VALUE, PASS_MS);
      }
    });

    it('the duration is 0 if rebalancing is disabled', () =>
      expect(still.map(({ lastMs }) => lastMs)).to.deep.equal([0, 0]));
  });
});
