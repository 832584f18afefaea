import { expect } from 'chai';
import { readyPage } from '../end-to-end/page.js';
import { testPrograms } from '../support/processes.js';
import { application, shop, shopSeries, targetOf, targets } from './shop.js';
import { shows } from './shows.js';

describe('the targets of a file', function () {
  this.slow(3000);
  const programs = testPrograms();
  const pages = new Map<string, string>();
  const page = (key: string): string => pages.get(key) ?? '';
  const names = (key: string): string[] => Object.keys(application(page(key)));

  before(async () => {
    const shops = [1, 2].flatMap((number) => shop(`h.${number}.shop`, number));
    const simulated = ['--app', 'ads', '--objects', '40', '--rate', '0'];
    for (const key of ['1', '2', '3']) programs.publish({ server_key: key, objects: shops });
    programs.publish({ server_key: '4', objects: shop('h.1.bank', 4) });
    for (const key of ['11', '12', '13']) programs.simulate(...simulated, '--server-key', key);
    const tables = targets(
      { app: 'shop', server_key: '1' },
      { app: 'shop', server_key: '2', instance: '2' },
      { app: 'shop', server_key: '3', seed_paths: ['@root', 'till.drawer'] },
      { app: 'bank', server_key: '4' },
      { app: 'ads', server_key: '11' },
      { app: 'ads', server_key: '12', classes: ['mounts'] },
      { app: 'ads', server_key: '13', seed_path_groups: ['client_totals'] },
    );
    // These settings of a single target must not affect the targets in the tables.
    const others = { instance: '9', classes: ['process'], seed_paths: ['nowhere'] };
    const config = programs.config({ ...others, app: 'adh', server_keys: ['9'] }, tables);
    const url = await programs.start('exporter', ['--config', config]).url();
    for (const key of ['1', '2', '3', '4', '11', '12', '13'])
      pages.set(key, await readyPage(`${url}?server_key=${key}`));
  });

  /** Returns the error message for a table that lacks a key. */
  const lacking = (key: 'app' | 'server_key'): string => {
    const table = { app: 'shop', server_key: '1' };
    const rest = Object.fromEntries(Object.entries(table).filter(([name]) => name !== key));
    const config = programs.config({}, targets(rest));
    const { status, stderr } = programs.run('exporter', '--config', config);
    expect(status).to.equal(2);
    return stderr;
  };

  shows('2.2 app', () => {
    it('app is the application of the target', () => {
      expect(targetOf(page('4'))).to.include({ app: 'bank', root: 'h.1.bank' });
      expect(application(page('4'))).to.deep.equal(shopSeries('bank', 4));
    });

    it('app is required', () =>
      expect(lacking('app')).to.match(/targets\[0\]\.app: found nothing, needed: /));
  });

  shows('2.2 server_key', () => {
    it('server_key selects the segment with the root of the target', () => {
      for (const key of ['1', '4', '11'])
        expect(targetOf(page(key))).to.include({ server_key: key });
    });

    it('server_key is required', () =>
      expect(lacking('server_key')).to.match(/targets\[0\]\.server_key: found nothing, needed: /));
  });

  shows('2.2 instance', () => {
    it('the instance number 2 selects the root h.2.shop', () =>
      expect(targetOf(page('2'))['root']).to.equal('h.2.shop'));

    it('without an instance, the target selects a matching root', () =>
      expect(targetOf(page('1'))['root']).to.equal('h.1.shop'));
  });

  shows('2.2 classes', () => {
    it('classes limit only the target that has them', () => {
      expect(names('12').length).to.be.above(5);
      expect(names('12').every((name) => name.startsWith('ads_mounts_'))).to.be.true;
      expect(names('11')).to.include.members(names('12'));
      expect(names('11').some((name) => name.startsWith('ads_process_'))).to.be.true;
    });
  });

  shows('2.2 seed_path_groups', () => {
    it('seed_path_groups limit only the target that has them', () => {
      expect(names('13').length).to.be.above(5);
      for (const name of names('13')) expect(name).to.match(/^ads_(streams|requests|fanout)_/);
      expect(names('11').length).to.be.above(2 * names('13').length);
    });
  });

  shows('2.2 seed_paths', () => {
    it('seed_paths limit only the target that has them', () => {
      expect(names('3')).to.have.members([
        'shop_count{"object":"@root"}',
        'shop_drawer_coins{"object":"till.drawer"}',
      ]);
      expect(application(page('1'))).to.deep.equal(shopSeries('shop', 1));
    });
  });

  shows('2.2', () => {
    for (const [app, key] of [
      ['shop', '1'],
      ['bank', '4'],
      ['ads', '11'],
    ] as const)
      it(`each metric name of the application ${app} begins with ${app}_`, () => {
        expect(names(key)).not.to.be.empty;
        for (const name of names(key)) expect(name).to.match(new RegExp(`^${app}_`));
      });
  });
});
