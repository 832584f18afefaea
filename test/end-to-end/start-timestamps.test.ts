// A real Prometheus 3 stores the start timestamps of pages as zeros, so that `increase` counts from the start.
import { expect } from 'chai';
import { freePort } from '../support/free-port.js';
import { needsNewer, newer } from '../support/newer-programs.js';
import { testPrograms, waitFor } from '../support/processes.js';

/** A value at a moment in Unix seconds. */
type Point = readonly [seconds: number, value: string];

interface Matrix {
  readonly data: { readonly result: readonly { readonly values: readonly Point[] }[] };
}

const tree = (sales: number) => ({
  server_key: '1',
  objects: [
    {
      id: 'h.1.shop',
      class: 'Shop',
      variables: { sales: { type: 'u64', kind: 'counter', value: sales } },
    },
  ],
});

const PAGES = [
  ['protobuf pages', {}, ''],
  [
    'OpenMetrics pages with created lines',
    { openmetrics_created_lines: true },
    'scrape_protocols: [OpenMetricsText1.0.0]',
  ],
] as const;

describe('Prometheus 3 with created-timestamp-zero-ingestion', function () {
  this.slow(60_000);
  this.timeout(300_000);
  const programs = testPrograms();

  before(function () {
    needsNewer(this, 'prometheus');
  });

  async function startPrometheus(name: string, url: string, protocols: string): Promise<string> {
    const file = programs.write(
      `${name}.yml`,
      `global: { scrape_interval: 2s, scrape_timeout: 2s }
scrape_configs:
  - job_name: shm
    ${protocols}
    static_configs: [{ targets: ['${new URL(url).host}'] }]
`,
    );
    const port = await freePort();
    programs.command([
      newer('prometheus'),
      `--config.file=${file}`,
      `--storage.tsdb.path=${programs.path(name)}`,
      `--web.listen-address=127.0.0.1:${port}`,
      '--enable-feature=created-timestamp-zero-ingestion',
    ]);
    return `http://127.0.0.1:${port}`;
  }

  async function stored(prometheus: string): Promise<readonly Point[]> {
    const url = `${prometheus}/api/v1/query?query=shop_sales_total%5B1h%5D`;
    const response = await fetch(url).catch(() => undefined);
    if (response?.status !== 200) return [];
    return ((await response.json()) as Matrix).data.result.flatMap(({ values }) => values);
  }

  for (const [index, [pages, settings, protocols]] of PAGES.entries())
    it(`stores a zero at the start of a publisher that restarts between two scrapes of ${pages}`, async () => {
      const started = Date.now() / 1000;
      let publisher = programs.publish(tree(1000));
      const url = await programs.exporter({ app: 'shop', server_keys: ['1'], ...settings }).url();
      const prometheus = await startPrometheus(`prometheus-${index}`, url, protocols);
      const has = (value: number) =>
        waitFor(`Prometheus has the value ${value}`, async () => {
          const points = await stored(prometheus);
          return points.some(([, text]) => text === String(value)) ? points : undefined;
        });
      const [first] = await has(1000);
      expect(first?.[1]).to.equal('0');
      expect(first?.[0]).to.be.within(started, started + 60);
      // A scrape during the restart would end the series after the new start, and Prometheus would refuse the zero.
      for (let value = 7; ; value++) {
        expect(value, 'restarts').to.be.below(17);
        publisher.close();
        const restarted = Date.now() / 1000;
        publisher = programs.publish(tree(value));
        const points = await has(value);
        const zero = points.at(points.findIndex(([, text]) => text === String(value)) - 1);
        if (zero?.[1] !== '0') continue;
        expect(zero[0]).to.be.within(restarted, Date.now() / 1000);
        expect(points.filter(([, text]) => text === '0').length).to.be.at.least(2);
        break;
      }
      publisher.close();
    });
});
