// Tests Gunicorn workers whose prometheus_client keeps its values in segments: their sums are what was counted.
import { expect } from 'chai';
import { familiesOf } from '../multiprocess/compared-pages.js';
import { GunicornShop } from '../support/gunicorn-shop.js';
import { PYTHON_0_16, PYTHON_0_21, needsLibraries } from '../support/metric-libraries.js';
import { testPrograms, waitFor } from '../support/processes.js';
import { scrape } from './page.js';

const WORKERS = 4;
const TARGET = `[[targets]]
app = "shop"
server_key = "shop"
format = "workers"
format_settings = { segments = ["shop", "shop-*"] }
`;
const SUMS = ['shop_requests_total', 'shop_request_duration_seconds_count'] as const;

/** The sum of the series with this name. */
function sumOf(page: string, name: string): number {
  let sum = 0;
  for (const { series } of familiesOf(page).values())
    for (const [key, value] of series) if (key === name || key.startsWith(`${name}{`)) sum += value;
  return sum;
}

describe('Gunicorn workers whose values are in segments', function () {
  this.slow(60_000).timeout(300_000);
  const programs = testPrograms();

  for (const [library, publishes] of [
    [PYTHON_0_21, 'line'],
    [PYTHON_0_16, 'line'],
    [PYTHON_0_21, 'preloaded line'],
    [PYTHON_0_16, 'entry point'],
  ] as const)
    it(`sum what was counted over kills and restarts, with ${library.name} and: ${publishes}`, async function () {
      needsLibraries(this, library);
      const name = `shop-${publishes.replace(' ', '-')}-${library === PYTHON_0_16 ? 16 : 21}`;
      const shop = await GunicornShop.start(programs, library, { name, publishes });
      const exporter = programs.start('exporter', [
        '--config',
        programs.config({ render_min_interval_ms: 1 }, TARGET),
      ]);
      const url = await exporter.url();
      const last = new Map<string, number>();
      /** Waits until the page has this number of requests. No sum may fall, or exceed what was sent. */
      const shows = (count: number, workers = 0): Promise<true> =>
        waitFor(`${count} requests are shown`, async () => {
          const { status, body } = await scrape(url);
          if (status !== 200) return undefined;
          for (const each of SUMS) {
            const sum = sumOf(body, each);
            expect(sum, each).to.be.within(last.get(each) ?? 0, shop.sent);
            last.set(each, sum);
          }
          const isThere = workers === 0 || sumOf(body, 'shm_workers') >= workers;
          return isThere && SUMS.every((each) => last.get(each) === count) ? true : undefined;
        });
      const send = async (count: number): Promise<void> => {
        for (let i = 0; i < count; i += 4)
          await Promise.all(Array.from({ length: 4 }, () => shop.request()));
      };
      /** Sends requests until each worker has answered one, and so has published. */
      const reachAll = (): Promise<void> =>
        waitFor('each worker has answered', async () => {
          await send(4);
          return shop.areAllPublished(WORKERS) ? true : undefined;
        }).then(() => undefined);

      await reachAll();
      await shows(shop.sent, WORKERS);
      await send(200);
      await shows(shop.sent);
      await shop.killWorker(1);
      await reachAll();
      await send(100);
      await shows(shop.sent, WORKERS);
      await shop.restart();
      await reachAll();
      await send(100);
      await shows(shop.sent, WORKERS);
      await shop.end();
      await exporter.stop();
      expect(programs.segments()).to.deep.equal([]);
    });
});
