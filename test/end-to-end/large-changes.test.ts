// Tests a target whose values all change between scrapes.
import { expect } from 'chai';
import { request } from 'node:http';
import { gunzipSync } from 'node:zlib';
import { delay, testPrograms } from '../support/processes.js';

const ITEMS = Array.from({ length: 200 }, (_, i) => `H.1.demo.item${i}`);
const NAMES = Array.from({ length: 100 }, (_, i) => `value${i}`);
const VALUES = [7, 1_000_000, 12_345];

/** Returns the page that a client with this Accept-Encoding gets. */
const page = (url: string, encoding: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const headers = { 'Accept-Encoding': encoding };
    request(url, { headers, agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => {
        const body = Buffer.concat(chunks);
        const isPacked = response.headers['content-encoding'] === 'gzip';
        expect(isPacked).to.equal(encoding === 'gzip');
        resolve((isPacked ? gunzipSync(body) : body).toString());
      });
    })
      .on('error', reject)
      .end();
  });

describe('a target whose values all change', () => {
  const programs = testPrograms();

  it('has all new values on each page, as text and compressed', async () => {
    const setTo = (value: number) => {
      const values = Object.fromEntries(NAMES.map((name) => [name, value]));
      return { after_ms: 60, set: Object.fromEntries(ITEMS.map((item) => [item, values])) };
    };
    const variables = Object.fromEntries(NAMES.map((name) => [name, { type: 'u64', value: 7 }]));
    await programs.simulatorOf({
      context_id: programs.contextId,
      pool_name: 'pool',
      server_key: '81',
      objects: [
        { id: 'H.1.demo', class: 'Demo' },
        ...ITEMS.map((id) => ({ id, class: 'Item', variables, parent: 'H.1.demo' })),
      ],
      steps: VALUES.map(setTo),
      repeat: true,
    });
    const settings = { app: 'demo', server_keys: ['81'], render_min_interval_ms: 1 };
    const exporter = programs.start('exporter', ['--config', programs.config(settings)]);
    const url = await exporter.url();
    await exporter.line(/ ready: /);
    const seen = new Set<string>();
    for (let round = 0; round < 12 || seen.size < VALUES.length; round++) {
      const encoding = round % 4 < 2 ? 'gzip' : 'identity';
      const values = [...(await page(url, encoding)).matchAll(/^demo_\w*value\d+\{.*\} (\d+)$/gm)];
      expect(values.length).to.equal(ITEMS.length * NAMES.length);
      for (const [, value = ''] of values) seen.add(value);
      await delay(40);
    }
    expect([...seen].toSorted()).to.deep.equal(VALUES.map(String).toSorted());
  });
});
