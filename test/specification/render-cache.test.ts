import { expect } from 'chai';
import { samplesOf, scrape, seriesOf } from '../end-to-end/page.js';
import { SPECIFIED_MODE as worker_execution_mode } from '../support/modes.js';
import { delay, waitFor, testPrograms } from '../support/processes.js';
import { Publishers } from '../support/publishers.js';
import { aside, internal, scopes } from './shop.js';
import { shows } from './shows.js';

const LONG_MS = 3_600_000;
/** Longer than a busy machine takes from one step of a script to the next. */
const SPACING_MS = 2000;
const PAUSE_MS = SPACING_MS + 1000;
const COUNTS = 'shm_exporter_internal_scrape_*';
const SCOPES = scopes({ one: ['shop_count', COUNTS], two: ['shop_*', COUNTS] });

/**
 * A step of a script. First, things happen: a number is stored, `told` notifies the readers and waits until
 * they have polled, `later` waits for the end of the interval. Then a scrape of a scope, or of everything,
 * must show the value. `render` and `scoped` say whether the render cache and the scope cache served it.
 */
type Step = readonly [
  happens: readonly (number | 'told' | 'later')[],
  scope: '' | '/one' | '/two',
  value: number,
  render: 'hit' | 'miss',
  scoped: '' | 'hit' | 'miss',
];

const CACHES = ['internal_scrape_render_cache', 'internal_scrape_scope_cache'] as const;

/** The scripts for each `render_min_interval_ms`. */
const SCRIPTS: Readonly<Record<number, readonly Step[]>> = {
  0: [
    // A hit: the target was rendered when it became ready, before the first scrape.
    [[], '', 1, 'hit', ''],
    [[2], '', 2, 'miss', ''],
    [[], '', 2, 'hit', ''],
    [[3, 'told', 'later'], '', 3, 'hit', ''],
    [[4, 5], '', 5, 'miss', ''],
    [[], '/one', 5, 'hit', 'miss'],
    [[], '/one', 5, 'hit', 'hit'],
    [[], '/two', 5, 'hit', 'miss'],
    [[6, 'told', 'later'], '/one', 6, 'hit', 'miss'],
    [[7], '/one', 7, 'miss', 'miss'],
    [[], '', 7, 'hit', ''],
    [[], '/one', 7, 'hit', 'hit'],
    [[], '/two', 7, 'hit', 'miss'],
  ],
  [SPACING_MS]: [
    [[], '', 1, 'miss', ''],
    [[], '', 1, 'hit', ''],
    [[2, 'told', 'later'], '', 2, 'miss', ''],
    // Scrapes within the interval get the previous text. One render follows at the end of the interval.
    [[3], '', 2, 'hit', ''],
    [[4], '/one', 2, 'hit', 'miss'],
    [['later'], '', 4, 'hit', ''],
    [[], '/one', 4, 'hit', 'miss'],
    [[], '/one', 4, 'hit', 'hit'],
    [[5, 'later'], '/two', 5, 'miss', 'miss'],
    [[], '', 5, 'hit', ''],
    [[], '/two', 5, 'hit', 'hit'],
  ],
  [LONG_MS]: [
    [[], '/one', 1, 'miss', 'miss'],
    [[2], '', 1, 'hit', ''],
    [[3, 'told'], '/one', 1, 'hit', 'hit'],
    [['later'], '/two', 1, 'hit', 'miss'],
    [[4, 'told'], '/two', 1, 'hit', 'hit'],
    [[], '', 1, 'hit', ''],
  ],
};

const lineOf = ([happens, scope, value, render, scoped]: readonly [
  happens: Step[0],
  scope: string,
  value: number | string,
  render: string,
  scoped: string,
]): string =>
  `${happens.join(', ')} > ${scope} ${value}, render ${render}${scoped && `, scope ${scoped}`}`;

describe('the render cache and the scope cache', function () {
  this.slow(20_000);
  const programs = testPrograms();
  const publishers = new Publishers();
  afterEach(() => {
    publishers.closeAll();
  });

  /** Runs a script and returns its actual results. */
  async function play(
    renderMinIntervalMs: number,
    steps: readonly Step[],
  ): Promise<readonly string[]> {
    const publisher = publishers.make('1');
    const count = publisher.addVariable(publisher.addRoot('h.1.shop', 'Shop'), 'count', 'u64');
    count.set(1);
    publisher.place();
    const config = programs.config(
      {
        ...{ context_id: publishers.contextId, app: 'shop', server_keys: ['1'] },
        ...{ worker_execution_mode, render_min_interval_ms: renderMinIntervalMs },
      },
      SCOPES,
    );
    const exporter = programs.start('exporter', ['--config', config, '--debug']);
    const url = await exporter.url();
    // Wait without a scrape, because the first scrape is part of the script.
    await waitFor('readiness', async () =>
      [...(await aside(url))].find(
        ([key, value]) => key.startsWith('shm_exporter_internal_target_ready') && value === '1',
      ),
    );
    const noticed = (): number => exporter.stderr.match(/ update: notification /g)?.length ?? 0;
    const happen = async (what: number | 'told' | 'later'): Promise<void> => {
      if (typeof what === 'number') count.set(what);
      else if (what === 'later') await delay(PAUSE_MS);
      else {
        const before = noticed();
        publisher.notify();
        await waitFor('the update is noticed', () => (noticed() > before ? true : undefined));
      }
    };
    let counts = CACHES.flatMap(() => [0, 0]);
    const lines: string[] = [];
    for (const [happens, scope] of steps) {
      for (const each of happens) await happen(each);
      const { body } = await scrape(url + scope);
      const next = CACHES.flatMap((cache) =>
        ['hits', 'misses'].map((outcome) => internal(body, `${cache}_${outcome}_total`)),
      );
      const [hit, miss, scopeHit, scopeMiss] = next.map((each, at) => each - (counts[at] ?? 0));
      counts = next;
      const outcome = (hits = 0, misses = 0): string =>
        [...Array<string>(hits).fill('hit'), ...Array<string>(misses).fill('miss')].join(' and ');
      const value = samplesOf(body).find(({ name }) => name === 'shop_count')?.value ?? '';
      const outcomes = [outcome(hit, miss), outcome(scopeHit, scopeMiss)] as const;
      lines.push(lineOf([happens, scope, value, ...outcomes]));
    }
    const { status } = await scrape(`${url}/no_such_scope`);
    expect(status).to.equal(404);
    const after = seriesOf((await scrape(url)).body);
    const [hits = 0, misses = 0] = counts;
    expect(after.get(`shm_exporter_${CACHES[0]}_hits_total{}`)).to.equal(String(hits + 1));
    expect(after.get(`shm_exporter_${CACHES[0]}_misses_total{}`)).to.equal(String(misses));
    await exporter.stop();
    return lines;
  }

  const COUNTERS = CACHES.flatMap((cache) => [
    `2.5 shm_exporter_${cache}_hits_total`,
    `2.5 shm_exporter_${cache}_misses_total`,
  ]);
  shows(['1.9', '2.1 render_min_interval_ms', '8 render_min_interval_ms', ...COUNTERS], () => {
    for (const [spacing, steps] of Object.entries(SCRIPTS))
      it(`with an interval of ${spacing} ms, a script of updates and scrapes causes exactly the specified hits and misses`, async () =>
        expect(await play(Number(spacing), steps)).to.deep.equal(steps.map(lineOf)));
  });
});
