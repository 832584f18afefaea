import { expect } from 'chai';
import { copyFileSync } from 'node:fs';
import { readyPage, samplesOf, scrape, seriesOf } from '../end-to-end/page.js';
import { inBothModes } from '../support/modes.js';
import { waitFor, testPrograms } from '../support/processes.js';
import type { Running } from '../support/processes.js';
import { internal, scopes, shop, targets } from './shop.js';
import { shows } from './shows.js';

const KINDS = {
  delay: { type: 'histogram', value: { bounds: [1], counts: [2, 3], sum: 4 } },
  size: { type: 'summary', value: { quantiles: { '0.5': 10 }, count: 5, sum: 6 } },
  delay_count_of_all: { type: 'u64', value: 7 },
};
const clients = (name: string) => ({
  id: `h.1.shop.${name}`,
  parent: 'h.1.shop',
  class: name,
  variables: { num_clients: { type: 'u64', value: 8 } },
});
const TREE = [
  ...shop('h.1.shop', 1),
  { id: 'h.1.shop.kinds', parent: 'h.1.shop', class: 'Kinds', variables: KINDS },
  ...['Tills', 'Cash_Desks'].map(clients),
];
const COUNTS = 'shm_exporter_internal_scrape_*';

/** Patterns, and the names of the series that they select. */
const CASES = {
  '2.3.1': [
    ['shop_count', ['shop_count']],
    ['shop_till_sales_total', ['shop_till_sales_total']],
    ['shm_exporter_internal_target_ready', ['shm_exporter_internal_target_ready']],
  ],
  '2.3.2': [
    ['shop_till*', ['shop_till_sales_total', 'shop_tills_num_clients']],
    ['shop_count*', ['shop_count']],
  ],
  '2.3.3': [
    ['shop_*_num_clients', ['shop_tills_num_clients', 'shop_cash_desks_num_clients']],
    ['*_coins', ['shop_drawer_coins']],
    ['*draw*co*', ['shop_drawer_coins']],
  ],
  '2.3.4': [
    [
      'shop_kinds_delay',
      ['shop_kinds_delay_bucket', 'shop_kinds_delay_sum', 'shop_kinds_delay_count'],
    ],
    ['shop_kinds_size', ['shop_kinds_size', 'shop_kinds_size_sum', 'shop_kinds_size_count']],
  ],
} as const;

inBothModes('metric scopes', function (worker_execution_mode) {
  this.slow(3000);
  const programs = testPrograms();
  let running: Running;
  let file = '';
  let url = '';
  let whole = '';
  const names = (page: string): Set<string> => new Set(samplesOf(page).map(({ name }) => name));
  const all = Object.values(CASES).flat();
  const config = (small: string) =>
    programs.config(
      { app: 'shop', server_keys: ['1'], worker_execution_mode },
      scopes({
        ...Object.fromEntries(all.map(([pattern], index) => [`s${index}`, [pattern]])),
        'A.b-c_9': ['shop_till_*', 'shop_drawer_*'],
        small: [small, COUNTS],
        other: ['shop_*', COUNTS],
        nothing: ['shop_no_such_metric'],
      }),
    );
  const scoped = async (scope: string) => scrape(`${url}/${scope}`);

  before(async () => {
    programs.publish({ server_key: '1', objects: TREE });
    file = config('shop_count');
    running = programs.start('exporter', ['--config', file]);
    url = await running.url();
    whole = await readyPage(url);
  });

  for (const [row, cases] of Object.entries(CASES))
    shows(row, () => {
      for (const [pattern, wanted] of cases)
        it(`"${pattern}" selects ${wanted.join(', ')}`, async () => {
          const { status, body } = await scoped(`s${all.findIndex(([each]) => each === pattern)}`);
          expect(status).to.equal(200);
          expect([...names(body)]).to.have.members([...wanted]);
          expect([...names(whole)]).to.include.members([...wanted]);
        });
    });

  shows('2.3', () => {
    it('a scope returns a part of the page, with the same help, types and values', async () => {
      const { headers, body } = await scoped('A.b-c_9');
      expect(headers['content-type']).to.match(/^text\/plain; version=0\.0\.4/);
      for (const line of body.trimEnd().split('\n')) expect(whole).to.contain(`${line}\n`);
      expect([...seriesOf(body)]).to.deep.equal(
        [...seriesOf(whole)].filter(([key]) => /^shop_(till|drawer)_/.test(key)),
      );
    });
  });

  shows('2.3 metrics', () => {
    it('each pattern adds the matching metrics', async () =>
      expect([...names((await scoped('A.b-c_9')).body)]).to.have.members([
        'shop_till_sales_total',
        'shop_drawer_coins',
      ]));
  });

  shows(['4.2', '4.1 scope'], () => {
    it('a scope in the path and a scope in the parameter give the same page', async () => {
      const inPath = await scoped('A.b-c_9');
      const inQuery = await scrape(`${url}?scope=A.b-c_9`);
      expect(inQuery.status).to.equal(200);
      expect(inQuery.body).to.equal(inPath.body);
    });
  });

  shows('7 404', () => {
    for (const [scope, text] of [
      ['no_such', /^no metric scope "no_such"\n$/],
      ['nothing', /^scope "nothing" matches no rendered metrics\n$/],
    ] as const)
      it(`the scope "${scope}" gets 404, in the path and in the parameter`, async () => {
        for (const where of [`${url}/${scope}`, `${url}?scope=${scope}`]) {
          const { status, headers, body } = await scrape(where);
          expect(status).to.equal(404);
          expect(headers['content-type']).to.match(/^text\/plain/);
          expect(body).to.match(text);
        }
      });
  });

  describe('with repeated requests', () => {
    const HITS = 'internal_scrape_scope_cache_hits_total';
    const MISSES = 'internal_scrape_scope_cache_misses_total';
    /** Returns the cache hits and misses that successive scrapes of these scopes add. */
    const added = async (...asked: readonly string[]): Promise<readonly string[]> => {
      let page = (await scoped('small')).body;
      const told: string[] = [];
      for (const scope of asked) {
        const { body } = scope === '' ? await scrape(url) : await scoped(scope);
        const count = (name: string) => internal(body, name) - internal(page, name);
        told.push(`${count(HITS)} ${count(MISSES)}`);
        page = body;
      }
      return told;
    };

    shows(['2.3 last paragraph', `2.5 shm_exporter_${HITS}`], () => {
      it('scopes are served from their cache while nothing changes', async () =>
        expect(await added('small', 'small', '', 'small')).to.deep.equal([
          ...['1 0', '1 0', '0 0', '1 0'],
        ]));
    });

    shows(['2.3 last paragraph', `2.5 shm_exporter_${MISSES}`], () => {
      it('each scope is built once, and again only after a reload changes its metrics', async () => {
        expect(await added('other', 'other', 'small')).to.deep.equal(['0 1', '1 0', '1 0']);
        const misses = async () => internal((await scoped('other')).body, MISSES);
        const before = await misses();
        copyFileSync(config('shop_till_sales_total'), file);
        running.signal('SIGHUP');
        await running.line(/configuration reloaded/);
        const page = await waitFor('the changed scope', async () => {
          const { body } = await scoped('small');
          return names(body).has('shop_till_sales_total') ? body : undefined;
        });
        expect(internal(page, MISSES)).to.equal(before + 1);
        expect(await misses()).to.equal(before + 1);
      });
    });
  });
});

describe('the scopes of a file', function () {
  this.slow(3000);
  const programs = testPrograms();
  const WRONG = ['', 'a b', 'a/b', 'ä', 'a%', 'a*'];
  const NAMES = ['a', 'A.b-c_9', '0'];
  /**
   * The result of --check-config for a file that has a scope with each of these wrong names, a scope
   * without a name, and a scope without metrics.
   */
  let checked: { readonly status: number | null; readonly stderr: string };

  before(() => {
    const wrong = scopes(Object.fromEntries(WRONG.map((name) => [name, ['ads_*']])));
    const partial = '[[metric_scopes]]\nmetrics = ["ads_*"]\n[[metric_scopes]]\nname = "b"\n';
    const config = programs.config({}, wrong + partial);
    checked = programs.run('exporter', '--check-config', '--config', config);
  });
  const isRefused = (index: number, mistake: string): void => {
    expect(checked.status).to.equal(2);
    expect(checked.stderr).to.contain(`metric_scopes[${index}].${mistake}`);
  };

  shows('2.3 name', () => {
    for (const [index, name] of WRONG.entries())
      it(`${name === '' ? 'an empty name' : `the name "${name}"`} is rejected`, () =>
        isRefused(index, 'name: found "'));

    it('a name is required', () => isRefused(WRONG.length, 'name: found nothing, needed: '));
  });

  shows('2.3 metrics', () => {
    it('the list of metrics is required', () =>
      isRefused(WRONG.length + 1, 'metrics: found nothing, needed: '));
  });

  describe('with several targets', () => {
    let url = '';
    before(async () => {
      for (const key of ['1', '2'])
        programs.publish({ server_key: key, objects: shop('h.1.shop', Number(key)) });
      const tables = targets(...['1', '2'].map((server_key) => ({ app: 'shop', server_key })), {
        app: 'bank',
        server_key: '1',
      });
      const named = ['till', ...NAMES].map((name) => [name, ['shop_till_*']] as const);
      const config = programs.config({}, tables + scopes(Object.fromEntries(named)));
      url = await programs.start('exporter', ['--config', config]).url();
      for (const key of ['1', '2']) await readyPage(`${url}?server_key=${key}&app=shop`);
    });

    shows('2.3 name', () => {
      for (const name of NAMES)
        it(`the name "${name}" is allowed`, async () => {
          const { status, body } = await scrape(`${url}/${name}?server_key=1&app=shop`);
          expect(status).to.equal(200);
          expect(body).to.contain('shop_till_sales_total{');
        });
    });

    shows(['4.2', '4.1 scope'], () => {
      for (const key of ['1', '2'])
        it(`server_key ${key} routes a scoped request`, async () => {
          for (const where of [`/till?server_key=${key}`, `?scope=till&server_key=${key}`]) {
            const { status, body } = await scrape(`${url}${where}&app=shop`);
            expect(status).to.equal(200);
            expect([...seriesOf(body)]).to.deep.equal([
              ['shop_till_sales_total{"object":"till"}', `${key}0`],
            ]);
          }
        });
    });

    shows(['7.1', '4.3.2'], () => {
      const TEXT =
        'scope selected, but target routing still required when multiple targets are configured\n';
      for (const query of ['', '&app=shop', '&instance=h.1.shop', '&app=shop&instance=h.1.shop'])
        it(`${query === '' ? 'without routing' : `with only "${query.slice(1)}"`}, a scope in the path or in the parameter gets 400`, async () => {
          for (const where of [`${url}/till?${query}`, `${url}?scope=till${query}`])
            expect(await scrape(where)).to.deep.include({ status: 400, body: TEXT });
        });
    });
  });
});
