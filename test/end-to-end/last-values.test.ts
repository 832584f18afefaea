// Tests that /tree shows the last values of a publisher that was killed, while its scrapes get 503.
import { expect } from 'chai';
import { MODES } from '../support/modes.js';
import { testPrograms, waitFor } from '../support/processes.js';
import { textOf } from '../support/text-of-html.js';
import { readyPage, scrape } from './page.js';

const tree = (sales: number) => ({
  server_key: '82',
  objects: [
    {
      id: 'h.1.shop',
      class: 'Shop',
      variables: {
        sales: { type: 'u64', kind: 'counter', value: sales },
        clerk: { type: 'string', value: 'Jane Doe' },
      },
    },
    {
      id: 'h.1.shop.floor',
      parent: 'h.1.shop',
      class: 'Floor',
      variables: { steps: { type: 'u64', value: 8 } },
    },
  ],
});

describe('the last values of a publisher', function () {
  this.slow(10_000);
  const programs = testPrograms();

  for (const mode of MODES)
    it(`that was killed stay on /tree, until another publisher comes (${mode})`, async () => {
      const publisher = await programs.simulatorOf(tree(7));
      const config = programs.config(
        { worker_execution_mode: mode },
        '[[targets]]\napp = "shop"\nserver_key = "82"\nseed_paths = ["@root"]\n',
      );
      const url = await programs.start('exporter', ['--config', config]).url();
      const page = (more = '') => scrape(new URL(`/tree?server_key=82${more}`, url).href);
      const live = await readyPage(url);
      expect(live).to.match(/^shop_sales_total\{.*\} 7$/m);
      await publisher.stop('SIGKILL');
      const { status, body } = await waitFor('the last values', async () => {
        const answer = await page();
        return answer.body.includes('id="last"') ? answer : undefined;
      });
      expect(status).to.equal(200);
      const text = textOf(body);
      expect(text).to.match(
        /These are the last values of a publisher that is not served; its last heartbeat was \d+ s ago\. Scrapes get 503\./,
      );
      expect(text).to.contain('sales u64 counter 7 shop_sales_total');
      expect(text).to.contain('clerk string "Jane Doe" shop_clerk_info');
      expect(text).to.contain('steps u64 (not read) no metric: not read: seed_paths excludes it');
      const { status: refused, body: reason } = await scrape(url);
      expect(refused).to.equal(503);
      expect(reason).to.contain('publisher died without closing');
      expect(textOf((await page('&q=shop_sales_total&in=metric')).body)).to.contain('sales u64');
      expect((await page('&object=h.1.shop.none')).status).to.equal(404);

      const next = await programs.simulatorOf(tree(1));
      expect(await readyPage(url)).to.match(/^shop_sales_total\{.*\} 1$/m);
      expect((await page()).body).not.to.contain('id="last"');
      await next.stop();
      await waitFor('no tree', async () => ((await page()).status === 503 ? true : undefined));
    });
});
