// Tests gzip from the running exporter in both execution modes: pages must be complete while values change.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { gunzipSync } from 'node:zlib';
import { expect } from 'chai';
import { delay, testPrograms } from '../support/processes.js';
import { needsPrograms } from '../support/needs.js';

describe('a compressed page', function () {
  const programs = testPrograms();
  /** Each family has a hundred lines: enough for lines to refer to each other. */
  const ITEMS = Array.from({ length: 100 }, (_, i) => `H.1.demo.item${i}`);
  const VARIABLES = ITEMS.length * 5;
  const GZIP = 'Accept-Encoding: gzip';
  const variables = (value: number) =>
    Object.fromEntries(
      Array.from({ length: 5 }, (_, i) => [`value${i}`, { type: 'u64', value }] as const),
    );
  const setTo = (value: number) => {
    const values = Object.fromEntries(Object.keys(variables(0)).map((name) => [name, value]));
    return { after_ms: 15, set: Object.fromEntries(ITEMS.map((item) => [item, values])) };
  };

  for (const mode of ['logical', 'threaded'])
    it(`has every series in ${mode} mode, even while values change`, async function () {
      needsPrograms(this, 'curl');
      const key = mode === 'logical' ? '81' : '82';
      await programs.simulatorOf({
        context_id: programs.contextId,
        pool_name: 'pool',
        server_key: key,
        objects: [
          { id: 'H.1.demo', class: 'Demo' },
          ...ITEMS.map((id) => ({
            id,
            class: 'Item',
            variables: variables(1),
            parent: 'H.1.demo',
          })),
        ],
        steps: [setTo(1_000_000), setTo(2)],
        repeat: true,
      });
      const settings = {
        app: 'demo',
        server_keys: [key],
        worker_execution_mode: mode,
        render_min_interval_ms: 1,
      };
      const scope = '\n[[metric_scopes]]\nname = "all"\nmetrics = ["demo_*"]\n';
      const exporter = programs.start('exporter', ['--config', programs.config(settings, scope)]);
      const url = await exporter.url();
      await exporter.line(/ ready: /);
      const scrape = async (path = '', ...headers: readonly string[]): Promise<string> => {
        // Use curl: fetch decompresses the body and does not show the bytes that were sent.
        const words = ['-sS', ...headers.flatMap((header) => ['-H', header]), `${url}${path}`];
        const { stdout } = await promisify(execFile)('curl', words, { encoding: 'buffer' });
        expect(stdout.length).to.be.greaterThan(1000);
        return headers.includes(GZIP) ? gunzipSync(stdout).toString() : stdout.toString();
      };
      const seen = new Set<string>();
      for (let round = 0; round < 8 || seen.size < 2; round++) {
        // Request uncompressed text only in the last rounds, when the exporter has not rendered it for a
        // while.
        const plain = round > 5 ? [scrape(), scrape('/all')] : [];
        const packed = [
          scrape('', GZIP),
          scrape('/all', GZIP),
          scrape('', GZIP, 'Accept: application/openmetrics-text; version=1.0.0'),
        ];
        for (const page of await Promise.all([...packed, ...plain])) {
          const values = [...page.matchAll(/^demo_\w*value\d+(?:\{.*\})? (\d+)$/gm)];
          expect(values.length).to.equal(VARIABLES);
          for (const [, value = ''] of values) {
            expect(['1', '2', '1000000']).to.include(value);
            seen.add(value);
          }
        }
        await delay(5);
      }
    });
});
