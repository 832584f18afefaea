// Tests that the dashboards are valid for Grafana: fields, ids, positions, variables, expressions.
import { expect } from 'chai';
import { readFileSync, readdirSync } from 'node:fs';
import { loadCatalogues } from '#app/catalogue/builtin.js';
import { APP_LAYOUTS } from '#app/dashboards/app-layouts.js';
import { COLUMNS } from '#app/dashboards/dashboard.js';
import type { Panel } from '#app/dashboards/dashboard.js';
import { INTERNAL_METADATA } from '#app/targets/internal-metrics.js';
import { ENDED, LEFT_OUT, LEFT_OUT_VARIABLES, LIVE, STALLED } from '#app/workers/folded-nodes.js';
import { needsPrograms } from '../support/needs.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { DASHBOARDS, GRAFANA, allPanels, expressionsOf } from './dashboard-panels.js';
import { metricsOf, withoutVariables } from './expressions.js';
import { promtool } from './promtool.js';
import { ALERTS, PROMETHEUS, RECORDS } from './rule-files.js';

/** The ids that Grafana gives to units. */
const UNITS = [
  ...['none', 'short', 'percentunit', 'bytes', 'Bps', 's', 'ms'],
  ...['cps', 'pps', 'reqps', 'dateTimeFromNow'],
];
const TYPES = ['row', 'stat', 'timeseries', 'state-timeline', 'table'];

/** Internal metrics that another metric makes redundant. */
const NOT_DRAWN = ['shm_exporter_internal_target_initial_sync_complete'];

const overlap = ({ gridPos: a }: Panel, { gridPos: b }: Panel): boolean =>
  a.x < b.x + b.w && b.x < a.x + a.w && a.y < b.y + b.h && b.y < a.y + a.h;

function expectPlaces(panels: readonly Panel[]): void {
  for (const [at, panel] of panels.entries()) {
    const { x, y, w, h } = panel.gridPos;
    for (const each of [x, y, w, h]) expect(each).to.satisfy(Number.isInteger);
    expect(Math.min(x, y, w - 1, h - 1), panel.title).to.be.at.least(0);
    expect(x + w, panel.title).to.be.at.most(COLUMNS);
    for (const other of panels.slice(0, at))
      expect(overlap(panel, other), `${panel.title} and ${other.title}`).to.equal(false);
  }
}

describe(GRAFANA, () => {
  const folder = temporaryFolder();

  it('has a dashboard with a unique id for each application and for the exporter', () => {
    const files = [...loadCatalogues().keys(), 'multiprocess', 'varnish', 'shm_exporter'].map(
      (name) => `${name}.json`,
    );
    expect([...DASHBOARDS.keys()].sort()).to.deep.equal(files.sort());
    const uids = [...DASHBOARDS.values()].map(({ uid }) => uid);
    expect(new Set(uids).size).to.equal(uids.length);
    for (const uid of uids) expect(uid).to.match(/^[\w-]{1,40}$/);
  });

  it('is listed file by file in docs/http.md, together with the rules', () => {
    const page = readFileSync('docs/http.md', 'utf8');
    const files = [
      ...[...DASHBOARDS.keys()].map((file) => `${GRAFANA}/${file}`),
      ...readdirSync(PROMETHEUS).map((file) => `${PROMETHEUS}/${file}`),
    ];
    expect(files.filter((file) => !page.includes(`](../${file})`))).to.deep.equal([]);
  });

  for (const [file, board] of DASHBOARDS) {
    const panels = allPanels(board);

    it(`has a title, a type, queries and a unique id for each panel in ${file}`, () => {
      expect(new Set(panels.map(({ id }) => id)).size).to.equal(panels.length);
      for (const { id, type, title, description, targets, datasource, fieldConfig } of panels) {
        expect(id).to.be.above(0);
        expect(TYPES).to.include(type);
        expect(title).to.match(/^.{3,90}$/);
        if (type === 'row') continue;
        expect(description, title).to.match(/^.{10,}$/);
        expect(datasource).to.deep.equal({ type: 'prometheus', uid: '${datasource}' });
        expect(targets, title).not.to.be.empty;
        const refIds = targets?.map(({ refId }) => refId) ?? [];
        expect(new Set(refIds).size, title).to.equal(refIds.length);
        const unit = fieldConfig?.defaults['unit'];
        if (unit !== undefined) expect(UNITS, title).to.include(unit);
      }
    });

    it(`has panels inside the grid and without overlap in ${file}`, () => {
      expectPlaces(board.panels);
      for (const { type, collapsed, panels: inside = [] } of board.panels) {
        if (type !== 'row') continue;
        expect(inside.length > 0).to.equal(collapsed);
        expectPlaces(inside);
      }
      // A row must precede its panels, so positions must not decrease.
      const tops = board.panels.map(({ gridPos: { y } }) => y);
      expect(tops).to.deep.equal(tops.toSorted((a, b) => a - b));
    });

    it(`uses exactly the defined variables in ${file}`, () => {
      const names = board.templating.list.map(({ name }) => name);
      const queries = board.templating.list.map(({ query }) => JSON.stringify(query));
      const text = [...expressionsOf(board).map(([, expr]) => expr), ...queries].join('\n');
      const used = new Set([...text.matchAll(/\$([a-z]\w*)/g)].map(([, name]) => name));
      expect([...used, 'datasource']).to.have.members(names);
    });

    it(`has valid PromQL in ${file}`, function () {
      needsPrograms(this, 'promtool');
      const rules = expressionsOf(board).map(([, expr], at) => ({
        record: `panel:expression_${at}:value`,
        expr: withoutVariables(expr),
      }));
      const rulesFile = folder.write(
        'panels.yml',
        JSON.stringify({ groups: [{ name: 'p', rules }] }),
      );
      expect(promtool('check', 'rules', rulesFile)).to.equal('');
    });
  }

  for (const [app, { families, classes }] of loadCatalogues()) {
    const board = DASHBOARDS.get(`${app}.json`);
    const layout = APP_LAYOUTS[app];

    it(`shows every metric of the catalogue in ${app}.json`, () => {
      const text = board === undefined ? '' : JSON.stringify(expressionsOf(board));
      for (const name of families.keys())
        expect(text).to.match(new RegExp(`\\b${name}(_\\w+)?[{"]`));
    });

    it(`has a section for each class, in the order of the layout, in ${app}.json`, () => {
      const shown = classes.filter(({ rows }) => rows.length > 0).map(({ alias }) => alias);
      expect(Object.keys(layout?.classes ?? {})).to.have.members(shown);
      expect(layout?.many).to.satisfy((many: string[]) =>
        many.every((alias) => classes.some((each) => each.alias === alias)),
      );
      const rows = board?.panels.filter(({ type }) => type === 'row').map(({ title }) => title);
      expect(rows?.slice(0, 2)).to.deep.equal(['Health', Object.keys(layout?.first ?? {})[0]]);
    });
  }

  it('shows the use of JVM memory pools, and the share of time in garbage collection', () => {
    const board = DASHBOARDS.get('jvm.json');
    const metrics = (board ? expressionsOf(board) : []).map(([, expr]) => metricsOf(expr));
    expect(metrics).to.deep.include([
      'jvm_memory_pool_collection_used_bytes',
      'jvm_memory_pool_max_bytes',
    ]);
    expect(metrics).to.deep.include(['jvm_gc_collection_seconds_sum']);
  });

  it('shows every metric about worker processes in shm_exporter.json', () => {
    const board = DASHBOARDS.get('shm_exporter.json');
    const shown = (board ? expressionsOf(board) : []).flatMap(([, expr]) => metricsOf(expr));
    const stated = [LIVE, STALLED, ENDED, LEFT_OUT, LEFT_OUT_VARIABLES];
    expect(shown).to.include.members(stated.map(({ metric }) => metric?.name));
  });

  it('shows every internal metric of a target except redundant ones', () => {
    const board = DASHBOARDS.get('shm_exporter.json');
    const shown = new Set(
      (board ? expressionsOf(board) : []).flatMap(([, expr]) => metricsOf(expr)),
    );
    for (const { name, type } of INTERNAL_METADATA)
      expect(shown.has(type === 'histogram' ? `${name}_bucket` : name), name).to.equal(
        !NOT_DRAWN.includes(name),
      );
  });
});

describe('the search for metrics in PromQL', () => {
  const rows = [
    ['up == 0', ['up']],
    ['rate(a_total{b="c d"}[5m]) / (e:f:g > 0)', ['a_total', 'e:f:g']],
    ['sum by (le, root) (x_bucket) and on (y) z', ['x_bucket', 'z']],
    ['avg without (app) (x) * 1e3 - time()', ['x']],
    ['{__name__=~"(ads|adh)_start"} - time() > 60', ['ads_start', 'adh_start']],
    ['a unless on (b) {__name__=~"(up|c)",d="e"}', ['a', 'up', 'c']],
    ['a{b="1"} * 1 or a{b="2"} * 2 unless rates', ['a', 'rates']],
  ] as const;
  for (const [expr, names] of rows)
    it(`finds ${names.join(', ')} in "${expr}"`, () =>
      expect(metricsOf(expr)).to.deep.equal(names));

  it('finds metrics in each rule', () => {
    for (const { name, expr } of [...ALERTS, ...RECORDS])
      expect(metricsOf(expr), name).not.to.be.empty;
  });
});
