import { expect } from 'chai';
import { fileURLToPath } from 'node:url';
import { testPrograms } from '../support/processes.js';
import type { Published } from '../support/published.js';
import {
  applicationPart,
  pageWith,
  readyPage,
  samplesOf,
  scrape,
  seriesOf,
  unready,
} from './page.js';

const ROOT = 'h.1.shop';
const at = (path: string): string => (path === '@root' ? path : path.slice(ROOT.length + 1));

/** A `till` object, whose variable `sales` has no value unless one is given. */
const till = (id: string, sales?: number) => ({
  id: `${ROOT}.${id}`,
  parent: ROOT,
  class: 'Till',
  variables: {
    sales: { type: 'u64', kind: 'counter', ...(sales !== undefined && { value: sales }) },
  },
});

describe('a scenario of all value types', function () {
  this.slow(3000);
  const programs = testPrograms();
  const series = (name: string, path: string, more: Readonly<Record<string, string>> = {}) =>
    `${name}${JSON.stringify(
      Object.fromEntries(
        Object.entries({ ...more, object: at(path) }).toSorted(([a], [b]) => (a < b ? -1 : 1)),
      ),
    )}`;

  const types = {
    max: { type: 'u64', value: '18446744073709551615', kind: 'counter' },
    odd: { type: 'u64', value: '9007199254740993' },
    min: { type: 'i64', value: '-9223372036854775808', kind: 'gauge' },
    tenth: { type: 'f64', value: 0.1 },
    tiny: { type: 'f64', value: 5e-324 },
    none: { type: 'f64', value: 'NaN' },
    above: { type: 'f64', value: 'Infinity' },
    below: { type: 'f64', value: '-Infinity' },
    open: { type: 'bool', value: true },
    shut: { type: 'bool', value: false },
    name: { type: 'string', value: 'line one\nsays "hi" \\ äöü 😀' },
    delay: {
      type: 'histogram',
      value: { bounds: [0.1, 1, 10], counts: [1, 2, 0, '9007199254740993'], sum: 4.5 },
    },
    size: {
      type: 'summary',
      value: { quantiles: { '0.5': 10, '0.99': 'NaN' }, count: '9007199254740995', sum: 1e21 },
    },
  };

  describe('after the sync of all values', () => {
    let page = '';
    before(async () => {
      const objects = [{ id: ROOT, class: 'Shop', variables: types }];
      programs.publish({ server_key: '1', objects });
      page = await readyPage(await programs.exporter({ app: 'shop', server_keys: ['1'] }).url());
    });

    const values: readonly (readonly [string, string, Readonly<Record<string, string>>?])[] = [
      ['shop_max_total', '18446744073709551615'],
      ['shop_odd', '9007199254740993'],
      ['shop_min', '-9223372036854775808'],
      ['shop_tenth', '0.1'],
      ['shop_tiny', '5e-324'],
      ['shop_none', 'NaN'],
      ['shop_above', '+Inf'],
      ['shop_below', '-Inf'],
      ['shop_open', '1'],
      ['shop_shut', '0'],
      ['shop_name_info', '1', { value: 'line one\nsays "hi" \\ äöü 😀' }],
      ['shop_delay_bucket', '1', { le: '0.1' }],
      ['shop_delay_bucket', '3', { le: '1' }],
      ['shop_delay_bucket', '3', { le: '10' }],
      ['shop_delay_bucket', '9007199254740996', { le: '+Inf' }],
      ['shop_delay_sum', '4.5'],
      ['shop_delay_count', '9007199254740996'],
      ['shop_size', '10', { quantile: '0.5' }],
      ['shop_size', 'NaN', { quantile: '0.99' }],
      ['shop_size_sum', '1e+21'],
      ['shop_size_count', '9007199254740995'],
    ];
    for (const [name, value, labels] of values) {
      const { le, quantile } = labels ?? {};
      const part = le ? `{le="${le}"}` : quantile ? `{quantile="${quantile}"}` : '';
      it(`shows ${name}${part} as ${value}`, () => {
        const shown = samplesOf(page).filter((sample) => sample.name === name);
        const wanted = { object: '@root', ...labels };
        const [match] = shown.filter(
          (sample) => JSON.stringify(sort(sample.labels)) === JSON.stringify(sort(wanted)),
        );
        expect(match?.value).to.equal(value);
      });
    }

    it('shows no other series', () =>
      expect(samplesOf(applicationPart(page)).length).to.equal(values.length));

    it('declares the type of each family', () => {
      const type = (name: string) => new RegExp(`^# TYPE ${name} (\\w+)$`, 'm').exec(page)?.[1];
      expect(
        ['max_total', 'min', 'odd', 'delay', 'size'].map((name) => type(`shop_${name}`)),
      ).to.deep.equal(['counter', 'gauge', 'untyped', 'histogram', 'summary']);
    });
  });

  describe('with a slow first sync', () => {
    let url = '';
    let publisher: Published;
    before(async () => {
      const exporter = programs.exporter({
        app: 'shop',
        server_keys: ['2'],
        render_min_interval_ms: 0,
      });
      url = await exporter.url();
      publisher = programs.publish({
        server_key: '2',
        objects: [
          { id: ROOT, class: 'Shop', variables: { open: { type: 'bool', value: true } } },
          till('a', 5),
          till('b'),
          { ...till('c', 7), synced: false },
        ],
      });
    });

    it('answers 503 with the number of synced objects and variables before the sync ends (spec 3, 7)', async () => {
      const { body, headers } = await unready(url, /objects 3.4/);
      expect(body).to.equal(
        'scrape not ready: objects 3/4 synced, variables 3/4 synced, ' +
          `waiting on variable sales of ${ROOT}.b\n`,
      );
      expect(headers['content-type']).to.match(/^text\/plain/);
      const own = await scrape(new URL('/-/metrics', url).href);
      expect(own.body).to.match(/^shm_exporter_internal_target_ready\{[^}]*\} 0$/m);
      expect(own.body).to.match(/^shm_exporter_internal_target_pending_sync_items\{[^}]*\} 2$/m);
    });

    it('updates the number of synced variables in the 503 answer when a value is synced', async () => {
      publisher.go({ set: { [`${ROOT}.b`]: { sales: 6 } } });
      await unready(url, /objects 3\/4 synced, variables 4\/4 synced, waiting on .*h\.1\.shop\.c/);
    });

    it('answers 200 with readiness in the page after the sync (spec 3)', async () => {
      publisher.go({ sync: [`${ROOT}.c`] });
      const found = seriesOf(await readyPage(url));
      expect(found.get('shm_exporter_internal_target_ready{}')).to.equal('1');
      expect(found.get('shm_exporter_internal_target_initial_sync_complete{}')).to.equal('1');
      expect(found.get(series('shop_till_sales_total', `${ROOT}.a`))).to.equal('5');
      expect(found.get(series('shop_till_sales_total', `${ROOT}.b`))).to.equal('6');
      expect(found.get(series('shop_till_sales_total', `${ROOT}.c`))).to.equal('7');
    });

    it('stays ready when an object appears later, and adds the object once it is synced (spec 3)', async () => {
      const pending = 'shm_exporter_internal_target_pending_sync_items{}';
      const late = series('shop_till_sales_total', `${ROOT}.late`);
      publisher.go({ add: [till('late')] });
      const before = await pageWith(url, (found) => found.get(pending) === '1', 'a late variable');
      expect(before.has(late)).to.be.false;
      expect(before.get('shm_exporter_internal_target_ready{}')).to.equal('1');
      publisher.go({ set: { [`${ROOT}.late`]: { sales: 8 } } });
      const after = await pageWith(url, (found) => found.has(late), 'the late variable is there');
      expect(after.get(late)).to.equal('8');
    });

    it('ends the series of a removed object, and shows the new value when a new object gets the name', async () => {
      const removed = series('shop_till_sales_total', `${ROOT}.a`);
      publisher.go({ remove: [`${ROOT}.a`] });
      const without = await pageWith(url, (found) => !found.has(removed), 'the object is gone');
      expect(without.get(series('shop_till_sales_total', `${ROOT}.c`))).to.equal('7');
      publisher.go({ add: [till('a', 50)], set: { [`${ROOT}.b`]: { sales: 60 } } });
      const again = await pageWith(url, (found) => found.has(removed), 'the object is back');
      expect(again.get(removed)).to.equal('50');
      expect(again.get(series('shop_till_sales_total', `${ROOT}.b`))).to.equal('60');
    });
  });

  it('shows each state of an object', async () => {
    const root = 'h.1.adh';
    const url = await programs.exporter({ app: 'adh', server_keys: ['3'] }).url();
    const publisher = programs.publish({
      server_key: '3',
      objects: [
        {
          id: root,
          class: 'ManagedProcess.SrcDist',
          variables: { processID: { type: 'u64', value: 1 } },
        },
      ],
    });
    const states = (found: ReadonlyMap<string, string>) =>
      [...found].flatMap(([key, value]) =>
        key.startsWith('adh_process_object_state') && value === '1' ? [key] : [],
      );
    const one = (state: string) => [
      `adh_process_object_state{"adh_process_object_state":"${state}"}`,
    ];
    expect(states(seriesOf(await readyPage(url)))).to.deep.equal(one('normal'));
    publisher.go({ state: { [root]: 'auto_recovery' } });
    const changed = await pageWith(
      url,
      (found) => states(found)[0] !== one('normal')[0],
      'another state',
    );
    expect(states(changed)).to.deep.equal(one('auto_recovery'));
  });

  it('shows the later of two variables with the same name', async () => {
    const script = fileURLToPath(new URL('publish-twice.js', import.meta.url));
    const publisher = programs.command([process.execPath, script, programs.contextId]);
    await publisher.line(/^ready$/m);
    const url = await programs.exporter({ app: 'twice', server_keys: ['7'] }).url();
    const depth = 'twice_process_depth{"object":"@root"}';
    const found = seriesOf(await readyPage(url));
    expect(found.get(depth)).to.equal('2');
    expect(found.get('twice_process_other{"object":"@root"}')).to.equal('3');
    expect(found.get('shm_exporter_target_series_clashes_total{}')).to.equal('0');
    publisher.signal('SIGUSR2');
    const after = await pageWith(url, (page) => page.get(depth) !== '2', 'the later one is gone');
    expect(after.get(depth)).to.equal('1');
  });
});

const sort = (labels: Readonly<Record<string, string>>) =>
  Object.entries(labels).toSorted(([a], [b]) => (a < b ? -1 : 1));
