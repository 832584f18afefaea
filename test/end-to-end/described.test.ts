// Tests metrics that come from a publisher's descriptions of its variables, and the target's settings
// that select which of these metrics it shows.
import { writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { targets } from '../specification/shop.js';
import { SPECIFIED_MODE as worker_execution_mode } from '../support/modes.js';
import { waitFor, testPrograms } from '../support/processes.js';
import { textOf } from '../support/text-of-html.js';
import { readyPage, scrape, seriesOf } from './page.js';

const TILL = 'h.1.shop.floor.2.7';
const SHOP = {
  server_key: '1',
  objects: [
    {
      id: 'h.1.shop',
      class: 'Shop',
      variables: { sales: { type: 'u64', kind: 'counter', value: 7 } },
    },
    {
      id: TILL,
      parent: 'h.1.shop',
      class: 'Till',
      variables: { received: { type: 'u64', kind: 'counter', unit: 'bytes', value: 1500 } },
    },
  ],
};

const CATALOGUE = `app = "shop"
[[classes]]
alias = "shop"
class_ids = ["Shop"]
paths = ["@root"]
metrics = [{ name = "shop_sales_total", type = "counter", help = "Sales.", var = "sales" }]
`;

/** The series of the application, without internal metrics. */
const shopOf = (page: string): Readonly<Record<string, string>> =>
  Object.fromEntries([...seriesOf(page)].filter(([key]) => key.startsWith('shop_')));

describe('an application without a catalogue', function () {
  this.slow(3000);
  const programs = testPrograms();
  const single = { app: 'shop', server_keys: ['1'], worker_execution_mode };
  before(() => {
    programs.publish(SHOP);
  });

  it('gets metric names with units and without repeated words, and OpenMetrics declares the units', async () => {
    const url = await programs.exporter(single).url();
    expect(shopOf(await readyPage(url))).to.deep.equal({
      'shop_sales_total{"object":"@root"}': '7',
      'shop_till_received_bytes_total{"object":"floor.2.7"}': '1500',
    });
    const headers = { accept: 'application/openmetrics-text; version=1.0.0' };
    const page = await (await fetch(url, { headers })).text();
    expect(page).to.contain('\n# UNIT shop_till_received_bytes bytes\n');
  });

  it('gets labels from paths after a reload, and no scrape fails during the reload', async () => {
    const path = programs.config(single);
    const exporter = programs.start('exporter', ['--config', path]);
    const url = await exporter.url();
    await readyPage(url);
    const labels = { path_labels: ['floor.{floor}.{till}'] };
    writeFileSync(path, programs.settings({ ...single, ...labels }));
    exporter.signal('SIGHUP');
    const page = await waitFor('the labels are there', async () => {
      const { status, body } = await scrape(url);
      expect(status).to.equal(200);
      return body.includes('floor=') ? body : undefined;
    });
    expect(shopOf(page)).to.deep.equal({
      'shop_sales_total{"object":"@root"}': '7',
      'shop_till_received_bytes_total{"floor":"2","object":"floor.2.7","till":"7"}': '1500',
    });
  });

  it('makes the start fail if a pattern of path_labels gives no label', () => {
    const config = programs.config({ ...single, path_labels: ['floor'] });
    const { status, stderr } = programs.run('exporter', '--config', config);
    expect(status).to.equal(2);
    expect(stderr).to.contain('path_labels[0]: "floor" has no {label}, allowed: ');
  });
});

describe('a variable that no row of the catalogue reads', function () {
  this.slow(3000);
  const programs = testPrograms();
  let settings: Readonly<Record<string, unknown>> = {};
  before(() => {
    const catalogue_files = [programs.write('shop.toml', CATALOGUE)];
    settings = { catalogue_files, worker_execution_mode };
    programs.publish(SHOP);
    programs.publish({ ...SHOP, server_key: '2' });
  });
  const ROW = 'shop_sales_total{}';
  const OTHER = 'shop_till_received_bytes_total{"object":"floor.2.7"}';

  it('becomes a metric of each target with show_uncatalogued, and /tree names the metric', async () => {
    const tables = targets(
      { app: 'shop', server_key: '1', show_uncatalogued: true },
      { app: 'shop', server_key: '2' },
    );
    const config = programs.config({ ...settings, metrics_http_enabled: true }, tables);
    const url = await programs.start('exporter', ['--config', config]).url();
    expect(shopOf(await readyPage(`${url}?server_key=1`))).to.deep.equal({
      [ROW]: '7',
      [OTHER]: '1500',
    });
    expect(shopOf(await readyPage(`${url}?server_key=2`))).to.deep.equal({ [ROW]: '7' });
    const tree = async (key: string) =>
      textOf((await scrape(new URL(`/tree?server_key=${key}`, url).href)).body);
    expect(await tree('1')).to.contain('shop_till_received_bytes_total');
    expect(await tree('2')).to.contain('its class has no row');
  });

  it('appears and disappears when reloads change show_uncatalogued, and no scrape fails', async () => {
    const single = { ...settings, app: 'shop', server_keys: ['1'] };
    const path = programs.config(single);
    const exporter = programs.start('exporter', ['--config', path]);
    const url = await exporter.url();
    expect(shopOf(await readyPage(url))).to.deep.equal({ [ROW]: '7' });
    for (const show_uncatalogued of [true, false]) {
      writeFileSync(path, programs.settings({ ...single, show_uncatalogued }));
      exporter.signal('SIGHUP');
      const page = await waitFor(`show_uncatalogued = ${show_uncatalogued}`, async () => {
        const { status, body } = await scrape(url);
        expect(status).to.equal(200);
        return body.includes('shop_till_') === show_uncatalogued ? body : undefined;
      });
      const other = show_uncatalogued ? { [OTHER]: '1500' } : {};
      expect(shopOf(page)).to.deep.equal({ [ROW]: '7', ...other });
    }
    expect(exporter.stderr).not.to.contain('show_uncatalogued takes effect');
  });

  it('becomes a metric if the legacy target file sets show_uncatalogued', async () => {
    const line = 'target app=shop server_key=1 show_uncatalogued=true\n';
    const legacy = programs.write('targets.txt', line);
    const url = await programs.exporter(settings, '--targets-config', legacy).url();
    expect(Object.keys(shopOf(await readyPage(url)))).to.have.members([ROW, OTHER]);
  });
});
