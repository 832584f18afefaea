import { expect } from 'chai';
import { readdirSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { readyPage } from '../end-to-end/page.js';
import { MODES } from '../support/modes.js';
import { waitFor, testPrograms } from '../support/processes.js';
import type { Running } from '../support/processes.js';
import { application, shop, shopSeries, targetOf, targets } from './shop.js';
import { shows } from './shows.js';

type Settings = Readonly<Record<string, unknown>>;
const CAP = 64;

describe('partitions', function () {
  this.slow(4000);
  const programs = testPrograms();
  const apps = Array.from({ length: CAP + 6 }, (_, index) => `shop${index}`);

  /** The partition of each of 16 targets, if `hash` distributes them over 64 partitions. */
  let in64: readonly number[] = [];
  /** The errors for a configuration in which each of these settings has a wrong value. */
  let mistakes = '';

  before(async () => {
    // One segment has the roots of all targets.
    programs.publish({
      server_key: '1',
      objects: apps.flatMap((app, index) => shop(`h.1.${app}`, index)),
    });
    in64 = await places(16, { target_workers: 64 });
    const config = programs.config({
      ...{ target_workers: -1, worker_assignment_mode: 'random', worker_execution_mode: 'process' },
    });
    const { status, stderr } = programs.run('exporter', '--config', config);
    expect(status).to.equal(2);
    mistakes = stderr;
  });

  const start = (count: number, settings: Settings): Running => {
    const tables = targets(...apps.slice(0, count).map((app) => ({ app, server_key: '1' })));
    return programs.start('exporter', ['--config', programs.config(settings, tables)]);
  };
  const pagesOf = async (exporter: Running, count: number): Promise<readonly string[]> => {
    const url = await exporter.url();
    const page = (app: string) => readyPage(`${url}?server_key=1&app=${app}&instance=h.1.${app}`);
    const pages: string[] = [];
    for (const app of apps.slice(0, count)) pages.push(await page(app));
    return pages;
  };
  /** The partition of each target, in the order of the file. */
  const placesOf = (pages: readonly string[]): readonly number[] =>
    pages.map((page) => Number(targetOf(page)['partition']));
  const places = async (count: number, settings: Settings): Promise<readonly number[]> => {
    const exporter = start(count, settings);
    const found = placesOf(await pagesOf(exporter, count));
    await exporter.stop();
    return found;
  };
  /** The number of targets in each partition. */
  const sizes = (found: readonly number[]): readonly number[] => {
    const all = Array.from({ length: Math.max(...found) + 1 }, () => 0);
    for (const place of found) all[place] = (all[place] ?? 0) + 1;
    return all;
  };
  const even = { worker_assignment_mode: 'least_loaded' };

  shows(['8 target_workers = 0', '2.1 target_workers'], () => {
    it('by default, five targets have five partitions', async () =>
      expect(await places(5, even)).to.deep.equal([0, 1, 2, 3, 4]));

    it(`by default, more than ${CAP} targets share ${CAP} partitions`, async () => {
      const found = sizes(await places(apps.length, { ...even, target_workers: 0 }));
      expect(found).to.deep.equal(
        Array.from({ length: CAP }, (_, place) => (place < apps.length - CAP ? 2 : 1)),
      );
    });
  });

  shows(['8 target_workers explicit value', '2.1 target_workers'], () => {
    it('three targets can share one partition', async () =>
      expect(await places(3, { ...even, target_workers: 1 })).to.deep.equal([0, 0, 0]));

    it('16 targets can use 64 partitions, numbered from 0 to 63', () => {
      expect(Math.min(...in64)).to.be.at.least(0);
      expect(Math.max(...in64)).to.be.within(32, 63);
    });

    it('target_workers = -1 is rejected', () =>
      expect(mistakes).to.match(/target_workers: found -1, allowed: .*0 to 64/));
  });

  shows('2.1 worker_assignment_mode', () => {
    it('with the default "hash", a target has the same partition in each run, whatever targets are added after it', async () => {
      const all = await places(16, { target_workers: 3, worker_assignment_mode: 'hash' });
      expect(await places(7, { target_workers: 3 })).to.deep.equal(all.slice(0, 7));
      expect(new Set(all)).to.deep.equal(new Set([0, 1, 2]));
      // When partitions are added, a target keeps its partition or moves to an added one.
      const moved = in64.filter((place, index) => place !== all[index]);
      expect(moved).not.to.be.empty;
      for (const place of moved) expect(place).to.be.within(3, 63);
    });

    it('any assignment mode except "hash" and "least_loaded" is rejected', () =>
      expect(mistakes).to.match(/worker_assignment_mode: found "random", .*hash.*least_loaded/));
  });

  describe('in both modes', () => {
    const COUNT = 6;
    const WORKERS = 3;
    const pages = new Map<string, readonly string[]>();
    const threads = new Map<string, number>();

    before(async () => {
      // Logical mode is the default, so the configuration does not set it.
      for (const mode of MODES) {
        const settings = { ...even, target_workers: WORKERS };
        const exporter = start(COUNT, {
          ...settings,
          ...(mode !== 'logical' && { worker_execution_mode: mode }),
        });
        pages.set(mode, await pagesOf(exporter, COUNT));
        threads.set(mode, await steadyThreads(exporter.pid));
        await exporter.stop();
      }
    });

    shows('1.10', () => {
      for (const mode of MODES)
        it(`in ${mode} mode, six targets share three partitions, and the pages are correct`, () => {
          const found = pages.get(mode) ?? [];
          expect(placesOf(found)).to.deep.equal([0, 1, 2, 0, 1, 2]);
          for (const [index, page] of found.entries())
            expect(application(page)).to.deep.equal(shopSeries(`shop${index}`, index));
        });
    });

    shows('2.1 worker_assignment_mode', () => {
      it('"least_loaded" puts each new target in the partition with the lowest load', () => {
        for (const mode of MODES)
          expect(placesOf(pages.get(mode) ?? [])).to.deep.equal([0, 1, 2, 0, 1, 2]);
      });
    });

    shows('2.1 worker_execution_mode', () => {
      it('the default "logical" has no partition threads, and "threaded" has a thread for each used partition', () =>
        expect(threads.get('threaded')).to.equal((threads.get('logical') ?? 0) + WORKERS));

      it('by default, "threaded" has at most one partition thread per processor core', async () => {
        const found = await places(6, { ...even, worker_execution_mode: 'threaded' });
        expect(new Set(found).size).to.equal(Math.min(6, availableParallelism()));
      });

      it('any other execution mode is rejected', () =>
        expect(mistakes).to.match(/worker_execution_mode: found "process", .*logical.*threaded/));
    });
  });
});

/** Resolves with the number of threads of a process once the number no longer changes. */
function steadyThreads(pid: number): Promise<number> {
  const counts: number[] = [];
  return waitFor('a steady number of threads', () => {
    counts.push(readdirSync(`/proc/${pid}/task`).length);
    const [last = 0, ...before] = counts.slice(-30).reverse();
    return before.length === 29 && before.every((each) => each === last) ? last : undefined;
  });
}
