import { expect } from 'chai';
import { readyPage, samplesOf, scrape } from '../end-to-end/page.js';
import { SPECIFIED_MODE as worker_execution_mode } from '../support/modes.js';
import { waitFor, testPrograms } from '../support/processes.js';
import { application, shop, targets } from './shop.js';
import { shows } from './shows.js';

const NAME = 'shm_exporter_target_highlighted_value';
const highlighted = (page: string): readonly object[] =>
  samplesOf(page)
    .filter(({ name }) => name === NAME)
    .map(({ labels, value }) => ({ ...labels, shown: value }));

describe('the highlighted variable', function () {
  this.slow(3000);
  const programs = testPrograms();
  const exporter = (settings: Readonly<Record<string, unknown>>) =>
    programs.exporter({ app: 'shop', server_keys: ['1'], worker_execution_mode, ...settings });

  before(() => {
    const name = { of: { type: 'string', value: 'Corner' } };
    const text = { id: 'h.4.shop.name', parent: 'h.4.shop', class: 'Name', variables: name };
    const sales = (value: number) => ({
      after_ms: 100,
      set: { 'h.1.shop.till': { sales: value } },
    });
    programs.publish({
      server_key: '1',
      objects: shop('h.1.shop', 1),
      steps: [sales(11), sales(12)],
      repeat: true,
    });
    const tree = (number: number) =>
      number === 4 ? [...shop('h.4.shop', 4), text] : shop(`h.${number}.shop`, number);
    for (const number of [2, 3, 4, 5, 6])
      programs.publish({ server_key: String(number), objects: tree(number) });
  });

  shows('2.1 variable', () => {
    it('no variable is highlighted by default', async () =>
      expect(highlighted(await readyPage(await exporter({}).url()))).to.deep.equal([]));

    it('a page shows the value of the variable with its path', async () =>
      expect(
        highlighted(await readyPage(await exporter({ variable: 'count' }).url())),
      ).to.deep.equal([{ path: 'count', shown: '1' }]));

    it('a variable that filters exclude is shown and updated, and its updates are logged', async () => {
      const variable = 'till.sales';
      const told = exporter({ variable, seed_paths: ['@root'], debug: true });
      const url = await told.url();
      const page = await readyPage(url);
      expect(Object.keys(application(page))).to.deep.equal(['shop_count{"object":"@root"}']);
      const seen = new Set<string>();
      await waitFor('both values', async () => {
        const [sample] = samplesOf((await scrape(url)).body).filter((each) => each.name === NAME);
        seen.add(sample?.value ?? '');
        return seen.has('11') && seen.has('12') ? true : undefined;
      });
      for (const value of [11, 12])
        await told.line(new RegExp(` debug target shop on 1 till\\.sales is ${value}\n`));
    });
  });

  shows('2.2 variable', () => {
    const CASES = [
      ['1', 'count', [{ path: 'count', shown: '1' }]],
      ['2', 'till.drawer.coins', [{ path: 'till.drawer.coins', shown: '200' }]],
      ['3', 'h.3.shop.till.sales', [{ path: 'h.3.shop.till.sales', shown: '30' }]],
      ['4', 'name.of', [{ path: 'name.of', shown: '1', value: 'Corner' }]],
      ['5', 'no.such', []],
      ['6', '', []],
    ] as const;
    let url = '';

    before(async () => {
      const tables = targets(
        ...CASES.map(([server_key, variable]) => ({ app: 'shop', server_key, variable })),
      );
      const config = programs.config({ worker_execution_mode, variable: 'count' }, tables);
      url = await programs.start('exporter', ['--config', config]).url();
    });

    for (const [key, variable, shown] of CASES)
      it(`${variable === '' ? 'an empty path' : `the path "${variable}"`} highlights ${shown.length > 0 ? 'the variable' : 'nothing'}`, async () =>
        expect(highlighted(await readyPage(`${url}?server_key=${key}`))).to.deep.equal(shown));
  });
});
