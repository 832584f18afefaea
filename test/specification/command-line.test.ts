import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { readyPage, scrape } from '../end-to-end/page.js';
import { freePort } from '../support/free-port.js';
import { PROJECT, testPrograms } from '../support/processes.js';
import type { Running } from '../support/processes.js';
import { listening } from './listening.js';
import { aside, application, shop, shopSeries, targetOf, targets } from './shop.js';
import { shows } from './shows.js';

describe('the command line', function () {
  this.slow(3000);
  const programs = testPrograms();

  before(() => {
    const objects = [...shop('h.1.shop', 1), ...shop('h.2.shop', 2), ...shop('h.1.bank', 3)];
    programs.publish({ server_key: '1', objects });
  });

  describe('with a conflicting file', () => {
    let exporter: Running;
    let port = 0;
    let page = '';

    before(async () => {
      port = await freePort();
      const said = { app: 'bank', server_keys: ['nobody'], metrics_http_enabled: false };
      const config = programs.config(
        { ...said, metrics_port: 1, debug: false },
        targets({ app: 'bank', server_key: '1' }, { app: 'bank', server_key: 'nobody' }),
      );
      exporter = programs.start('exporter', [
        ...['--config', config, '--app', 'shop', '--server-key', '1'],
        ...['--enable-metrics-http', '--metrics-port', String(port), '--debug'],
      ]);
      page = await readyPage(await exporter.url());
    });

    shows('1.1', () => {
      it('the path of the URL comes from the defaults, its address from the file, and the target from the options', async () => {
        expect(await exporter.url()).to.equal(`http://127.0.0.1:${port}/metrics`);
        expect(targetOf(page)).to.include({ app: 'shop', server_key: '1', root: 'h.1.shop' });
      });
    });

    shows('1.6', () => {
      it('--server-key leaves a single target, which needs no routing, and removes the targets of the file', async () => {
        expect(application(page)).to.deep.equal(shopSeries('shop', 1));
        const ready = 'shm_exporter_internal_target_ready';
        const all = [...(await aside(await exporter.url())).keys()];
        expect(all.filter((key) => key.startsWith(ready))).to.deep.equal([
          `${ready}{"app":"shop","server_key":"1"}`,
        ]);
      });
    });

    shows('CLI --config', () => {
      it('the exporter listens on the address in the file', () =>
        expect(listening(exporter.pid)).to.deep.equal([`127.0.0.1:${port}`]));
    });

    shows('CLI --app', () => {
      it('a page has the application of the option, not of the file', () => {
        expect(targetOf(page)['app']).to.equal('shop');
        expect(Object.keys(application(page)).every((key) => key.startsWith('shop_'))).to.be.true;
      });
    });

    shows('CLI --server-key', () => {
      it('a page has the root on the server key of the option, although the file has targets', () =>
        expect(targetOf(page)).to.include({ server_key: '1', root: 'h.1.shop' }));
    });

    shows('CLI --enable-metrics-http', () => {
      it('the exporter serves metrics and prints none, although the file has metrics_http_enabled = false', () => {
        expect(listening(exporter.pid)).to.have.lengthOf(1);
        expect(exporter.stdout).to.equal('');
      });
    });

    shows('CLI --metrics-port', () => {
      it('the exporter listens on the port of the option, not of the file', () =>
        expect(listening(exporter.pid)).to.deep.equal([`127.0.0.1:${port}`]));
    });

    shows('CLI --debug', () => {
      it('the exporter logs debug messages, although the file has debug = false', async () => {
        await exporter.line(/ debug target shop on 1 rendered 3 series, /);
      });
    });
  });

  describe('with --instance over a file with targets', () => {
    let page = '';

    before(async () => {
      const said = { app: 'shop', server_keys: ['1'] };
      const config = programs.config(said, targets({ app: 'bank', server_key: '1' }));
      const exporter = programs.start('exporter', ['--config', config, '--instance', '2']);
      page = await readyPage(await exporter.url());
    });

    shows('1.6', () => {
      it('--instance leaves only the target of the top-level keys', () =>
        expect(application(page)).to.deep.equal(shopSeries('shop', 2)));
    });

    shows('CLI --instance', () => {
      it('a page has the root with the instance number of the option', () =>
        expect(targetOf(page)).to.include({ app: 'shop', root: 'h.2.shop' }));
    });

    shows('1.5 single-target', () => {
      it('--instance selects single-target mode, although the file has targets', () =>
        expect(targetOf(page)['root']).to.equal('h.2.shop'));
    });
  });

  describe('with --targets-config over a file with targets', () => {
    let url = '';

    before(async () => {
      programs.publish({ server_key: '2', objects: shop('h.9.bank', 9) });
      const file = programs.write(
        'targets.txt',
        'target app=shop server_key=1\ntarget app=bank server_key=2\n',
      );
      const config = programs.config({}, targets({ app: 'other', server_key: '7' }));
      const args = ['--config', config, '--targets-config', file];
      url = await programs.start('exporter', args).url();
    });

    shows('1.7', () => {
      it('the exporter has the targets of the legacy file', async () => {
        const page = await readyPage(`${url}?server_key=1`);
        expect(application(page)).to.deep.equal(shopSeries('shop', 1));
      });
    });

    shows('2.4', () => {
      it('each line defines one target', async () => {
        const roots = ['1', '2'].map(async (key) =>
          targetOf(await readyPage(`${url}?server_key=${key}`)),
        );
        const [one, two] = await Promise.all(roots);
        expect(one).to.include({ app: 'shop', server_key: '1', root: 'h.1.shop' });
        expect(two).to.include({ app: 'bank', server_key: '2', root: 'h.9.bank' });
      });
    });

    shows('CLI --targets-config', () => {
      it('the exporter omits the targets of the TOML file', async () =>
        expect((await scrape(`${url}?server_key=7`)).status).to.equal(404));
    });
  });

  shows(['9.1', 'CLI --version'], () => {
    it('--version prints the version of the package, and nothing else', () => {
      const manifest: unknown = JSON.parse(readFileSync(join(PROJECT, 'package.json'), 'utf8'));
      const { status, stdout, stderr } = programs.run('exporter', '--version');
      expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
      expect(manifest).to.include({ version: stdout.trimEnd() });
      expect(stdout).to.match(/^\d+\.\d+\.\d+\S*\n$/);
    });
  });
});
