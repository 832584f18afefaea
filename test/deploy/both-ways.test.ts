// Tests that dashboards work for one target per root and for the host page, with the series of the golden pages.
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { PUBLISHER_STATES } from '#app/model.js';
import { needsPrograms } from '../support/needs.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { DASHBOARDS, expressionsOf } from './dashboard-panels.js';
import { metricsOf } from './expressions.js';
import { testRules } from './promtool.js';
import type { Values } from './promtool.js';

const AT = 'instance="e:9464"';

/** The recorded pages of each application. Two namings of Varnish never have the same labels. */
const PAGES: readonly (readonly [app: string, page: string])[] = [
  ['ads', 'ads.prom'],
  ['adh', 'adh.prom'],
  ['ats', 'ats.prom'],
  ['jvm', 'jvm-openjdk-17.0.15.prom'],
  ['varnish', 'varnish-7.1.1-clean.prom'],
  ['varnish', 'varnish-7.1.1-compat.prom'],
];

const identityOf = (app: string, root: string): string =>
  `${AT},job="shm",app="${app}",server_key="${app}"${root && `,root="${root}"`}`;

/** The series of a page. Counters rise, so that each rate has a value; all other values are constant. */
function seriesIn(page: string, labels: string, isShown = isOfTarget): Values {
  const text = readFileSync(`test/golden/${page}`, 'utf8');
  const types = new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type = '']) => [name, type]),
  );
  const isCounter = (name: string): boolean =>
    types.get(name) === 'counter' || (!types.has(name) && /_(bucket|sum|count)$/.test(name));
  return Object.fromEntries(
    [...text.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)]
      .filter(([, name = '']) => isShown(name))
      .map(([, name = '', own = '', value = ''], at) => [
        `${name}{${labels}${own && `,${own}`}}`,
        // Buckets follow each other in the order of their bounds, so the counts of higher ones rise faster.
        isCounter(name) ? `0+${at + 1}x100` : `${Number(value) || 1}x100`,
      ]),
  );
}

/** The scrape job `shm` drops the internal metrics of a page. */
const isOfTarget = (name: string): boolean => !name.startsWith('shm_exporter_');

/** What `/-/metrics` shows of a target. */
const internalOf = (app: string): Values => {
  const labels = `${AT},job="shm_exporter",app="${app}",server_key="${app}"`;
  return {
    [`shm_exporter_internal_target_ready{${labels}}`]: '1x100',
    ...Object.fromEntries(
      PUBLISHER_STATES.map((state) => [
        `shm_exporter_publisher_state{${labels},state="${state}"}`,
        `${Number(state === 'live')}x100`,
      ]),
    ),
    [`ALERTS{${labels},alertname="ShmTargetNotReady",alertstate="firing"}`]: '1x100',
  };
};

interface Way {
  readonly name: string;
  /** The series of a target that are not on its page. */
  readonly series: (app: string, root: string) => Values;
}
const WAYS: readonly Way[] = [
  {
    name: 'one target per root',
    series: (app, root) => ({
      [`up{${identityOf(app, root)}}`]: '1x100',
      [`scrape_duration_seconds{${identityOf(app, root)}}`]: '1x100',
    }),
  },
  {
    name: 'the host page',
    series: (app, root) => ({
      [`up{${AT},job="shm"}`]: '1x100',
      [`scrape_duration_seconds{${AT},job="shm"}`]: '1x100',
      [`shm_target_up{${identityOf(app, '')}}`]: '1x100',
      [`shm_target_info{${identityOf(app, root)},format="native"}`]: '1x100',
    }),
  },
];

/** Selects everything that the user may select, over a range with samples. */
const selecting = (text: string, root: string, job = 'shm'): string =>
  text
    .replaceAll('$__rate_interval', '5m')
    .replaceAll('$job', job)
    .replaceAll('$root', root)
    .replaceAll(/\$\w+/g, '.*');

describe('the dashboards', () => {
  const folder = temporaryFolder();

  for (const { name, series } of WAYS)
    for (const [app, page] of PAGES) {
      const board = DASHBOARDS.get(`${app}.json`);
      const root = `h.1.${app}`;
      const values = {
        ...seriesIn(page, identityOf(app, root)),
        ...series(app, root),
        ...internalOf(app),
        // Another target, which the queries must not show.
        ...series('other', 'h.1.other'),
        ...internalOf('other'),
      };
      /** Runs queries, each of which must give one or more results, or exactly `count` results. */
      const results = (queries: readonly string[], count?: number): string =>
        testRules(
          folder.path('test.yml'),
          [],
          [
            {
              name: page,
              values,
              expected: queries.map((query) => ({
                expr: count === undefined ? `count(${query}) > bool 0` : `count(${query})`,
                samples: [{ labels: '{}', value: count ?? 1 }],
              })),
            },
          ],
        );

      it(`have data in every panel of ${app}.json with ${page} (${name})`, function () {
        needsPrograms(this, 'promtool');
        const queries = (board ? expressionsOf(board) : [])
          .map(([, expr]) => selecting(expr, root))
          .filter((query) => !isOfOtherNames(query, page));
        expect(queries).not.to.be.empty;
        expect(results([...new Set(queries)])).to.equal('');
      });

      it(`show one target and its readiness in ${app}.json with ${page} (${name})`, function () {
        needsPrograms(this, 'promtool');
        const health = (board ? expressionsOf(board) : []).flatMap(([title, expr]) =>
          ['Metrics', 'Publisher'].includes(title) ? [selecting(expr, root)] : [],
        );
        expect(health).to.have.lengthOf(2);
        expect(results(health, 1)).to.equal('');
        const choices = (board?.templating.list ?? []).flatMap(({ query }) => {
          if (typeof query === 'string') return [];
          const [, match = '', label = ''] =
            /^label_values\((.+)\}, (\w+)\)$/.exec(query.query) ?? [];
          return [`count by (${label}) (${selecting(match, root)},${label}!=""})`];
        });
        expect(choices).to.have.lengthOf(3);
        expect(results(choices, 1)).to.equal('');
      });
    }

  it('have data in every panel of multiprocess.json', function () {
    needsPrograms(this, 'promtool');
    const labels = identityOf('shop', 'h.1.shop');
    const page = seriesIn('multiprocess-prometheus_client-0.21.1.prom', labels);
    const board = DASHBOARDS.get('multiprocess.json');
    const queries = (board ? expressionsOf(board) : []).map(([, expr]) =>
      selecting(expr, 'h.1.shop'),
    );
    // The recorded directory has no processes.
    const ofProcesses = queries.flatMap(metricsOf).filter((each) => each.startsWith('process_'));
    const processes = ofProcesses.map((each) => [`${each}{${labels},pid="7"}`, '1+1x100']);
    const values = { ...page, ...(Object.fromEntries(processes) as Values) };
    const expected = [...new Set(queries)].map((query) => ({
      expr: `count(${query}) > bool 0`,
      samples: [{ labels: '{}', value: 1 }],
    }));
    const name = 'workers';
    expect(testRules(folder.path('test.yml'), [], [{ name, values, expected }])).to.equal('');
  });

  for (const { name, series } of WAYS)
    it(`have data in every panel of shm_exporter.json (${name})`, function () {
      needsPrograms(this, 'promtool');
      const own = `${AT},job="shm_exporter"`;
      const recorded = {
        ...seriesIn('demo-exporter.prom', own, () => true),
        ...series('ads', 'h.1.ads'),
        [`up{${own}}`]: '1x100',
        [`ALERTS{${own},alertname="ShmExporterBusy",alertstate="firing"}`]: '1x100',
      };
      const board = DASHBOARDS.get('shm_exporter.json');
      const queries = (board ? expressionsOf(board) : []).map(([, expr]) =>
        selecting(expr, '.*', 'shm_exporter'),
      );
      const known = new Set(Object.keys(recorded).map((each) => each.split('{')[0]));
      // The recorded page lacks metrics of Node.js, of some settings, of workers and of the bridge.
      const others = queries.flatMap(metricsOf).filter((each) => !known.has(each));
      const labelsOf = (metric: string): string =>
        metric.startsWith('shm_bridge_')
          ? identityOf('shm_bridge', 'h.1.shm_bridge')
          : metric.startsWith('shm_workers')
            ? identityOf('shop', 'h.1.shop')
            : own;
      const values = {
        ...recorded,
        ...Object.fromEntries(others.map((each) => [`${each}{${labelsOf(each)}}`, '1+1x100'])),
      };
      const expected = [...new Set(queries)].map((query) => ({
        expr: `count(${query}) > bool 0`,
        samples: [{ labels: '{}', value: 1 }],
      }));
      expect(testRules(folder.path('test.yml'), [], [{ name, values, expected }])).to.equal('');
    });
});

/** Whether a query has only names of the other naming of Varnish. A panel has one query for each naming, or one for both. */
const isOfOtherNames = (query: string, page: string): boolean =>
  page === 'varnish-7.1.1-clean.prom'
    ? query.startsWith('rate(varnish_main_')
    : page === 'varnish-7.1.1-compat.prom' &&
      query.startsWith('rate(varnish_backend_connection_events_total') &&
      !query.includes(' or ');
