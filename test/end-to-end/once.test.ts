// Tests the single snapshot for scripts, and the file for node_exporter's textfile collector.
import { expect } from 'chai';
import { existsSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { waitFor, testPrograms } from '../support/processes.js';
import { LINTED, promtoolLines, samplesOf, scrape, seriesKey, seriesOf } from './page.js';
import { needsPrograms } from '../support/needs.js';

describe('an exporter without HTTP', function () {
  this.slow(5000);
  const programs = testPrograms();
  const tables = `
[[targets]]
app = "ads"
server_key = "82"

[[targets]]
app = "adh"
server_key = "83"
`;
  /** Starts the exporter for both targets. With --once, it waits for them at most one metrics interval. */
  const start = (metrics_interval_seconds: number, ...options: readonly string[]) => {
    const config = programs.config(
      { metrics_http_enabled: false, metrics_interval_seconds },
      tables,
    );
    return programs.start('exporter', ['--config', config, ...options]);
  };
  /** Starts the exporter for one snapshot of targets whose publishers run. */
  const once = (...options: readonly string[]) => start(60, '--once', ...options);
  /** Returns the values of a metric by the application of its target. */
  const byApp = (body: string, name: string) =>
    new Map(
      samplesOf(body)
        .filter((sample) => sample.name === name)
        .map(({ labels, value }) => [labels['app'] ?? '', value]),
    );

  before(() => programs.simulate('--app', 'ads', '--server-key', '82', '--root', 'h.1.ads'));

  describe('while a target is missing', () => {
    it('prints the ready targets with --once after one interval, names the missing target, and exits with status 5', async () => {
      const exporter = start(8, '--once');
      expect(await exporter.ended).to.deep.equal({ status: 5, signal: null });
      expect(exporter.stdout).to.match(/^# snapshot app=ads [^]*\nads_[^]*^# EOF$/m);
      expect(exporter.stdout).to.match(
        /^# snapshot app=adh \S+ root= time=\S+ scrape not ready: /m,
      );
      expect(exporter.stderr).to.match(/not all targets were ready: waiting on .*adh/);
    });

    it('shows in a merged document which target is not ready', async () => {
      const exporter = start(8, '--once', '--stdout-format', 'merged');
      expect(await exporter.ended).to.deep.equal({ status: 5, signal: null });
      const ready = byApp(exporter.stdout, 'shm_exporter_internal_target_ready');
      expect([...ready]).to.deep.equal([
        ['ads', '1'],
        ['adh', '0'],
      ]);
    });
  });

  describe('while all targets are ready', () => {
    before(() => programs.simulate('--app', 'adh', '--server-key', '83', '--root', 'h.1.adh'));

    it('prints each target once with --once, and exits with status 0', async () => {
      const exporter = once();
      expect(await exporter.ended).to.deep.equal({ status: 0, signal: null });
      expect(exporter.stdout.match(/^# snapshot app=(ads|adh) /gm)).to.have.length(2);
      expect(exporter.stdout.match(/^# EOF$/gm)).to.have.length(2);
    });

    it('prints one JSON object for each series with --stdout-format json', async () => {
      const exporter = once('--stdout-format', 'json');
      expect(await exporter.ended).to.deep.equal({ status: 0, signal: null });
      const rows = exporter.stdout.trimEnd().split('\n');
      const apps = rows.map((row) => (JSON.parse(row) as { readonly app: string }).app);
      expect(new Set(apps)).to.deep.equal(new Set(['ads', 'adh']));
    });

    describe('prints a merged document', () => {
      let document = '';
      before(async () => {
        const exporter = once('--stdout-format', 'merged');
        expect(await exporter.ended).to.deep.equal({ status: 0, signal: null });
        document = exporter.stdout;
      });

      it('in which promtool finds only the known problems', function () {
        needsPrograms(this, 'promtool');
        expect(promtoolLines(document).sort()).to.deep.equal(LINTED);
      });

      it('that labels each series with its target', () => {
        const samples = samplesOf(document);
        const ofApplications = samples.filter(({ name }) => /^ad[sh]_/.test(name));
        expect(ofApplications.length).to.be.above(100);
        for (const { name, labels } of ofApplications)
          expect([labels['app'], labels['server_key']]).to.deep.equal(
            name.startsWith('ads_') ? ['ads', '82'] : ['adh', '83'],
          );
        expect(seriesOf(document).size).to.equal(samples.length);
        expect(document).to.match(/^shm_exporter_build_info\{.* 1$/m);
        expect(document).not.to.match(/^(process|nodejs)_/m);
      });
    });

    it('writes one file with --textfile, and leaves the file after --once', async () => {
      const folder = programs.path('once');
      mkdirSync(folder, { recursive: true });
      const exporter = once('--textfile', folder);
      expect(await exporter.ended).to.deep.equal({ status: 0, signal: null });
      expect(readdirSync(folder)).to.deep.equal(['shm_exporter.prom']);
      const body = readFileSync(`${folder}/shm_exporter.prom`, 'utf8');
      expect([...byApp(body, 'shm_exporter_internal_target_ready').keys()]).to.deep.equal([
        'ads',
        'adh',
      ]);
      expect(exporter.stdout).to.equal('');
    });

    it('reports that it cannot write the file of --textfile and tries again, but replaces no file of another program', async () => {
      const folder = programs.path('later');
      // If mocha retries this test, the folder exists already.
      rmSync(folder, { recursive: true, force: true });
      const exporter = start(1, '--textfile', folder);
      await exporter.line(
        /cannot write \S+later\/shm_exporter\.prom: .*ENOENT.*: skipping snapshots/,
      );
      mkdirSync(folder);
      writeFileSync(`${folder}/other.prom`, 'other 1\n');
      await exporter.line(/serving again: skipped \d+ snapshots/);
      await waitFor('a file', () => readdirSync(folder)[1]);
      expect(await exporter.stop()).to.deep.equal({ status: 0, signal: null });
      expect(readdirSync(folder)).to.deep.equal(['other.prom']);
      expect(readFileSync(`${folder}/other.prom`, 'utf8')).to.equal('other 1\n');
    });

    it('with --textfile has its metrics on the page of node_exporter until it ends', async function () {
      needsPrograms(this, 'prometheus-node-exporter');
      const folder = programs.path('collected');
      mkdirSync(folder, { recursive: true });
      const exporter = start(1, '--textfile', folder);
      const collector = programs.command([
        'prometheus-node-exporter',
        '--collector.disable-defaults',
        '--collector.textfile',
        `--collector.textfile.directory=${folder}`,
        '--web.listen-address=127.0.0.1:0',
      ]);
      const [, port = ''] = await collector.line(/127\.0\.0\.1:(\d+)/);
      const url = `http://127.0.0.1:${port}/metrics`;
      const read = () => readFileSync(`${folder}/shm_exporter.prom`, 'utf8');
      const { page, file } = await waitFor('both targets', async () => {
        const before = existsSync(`${folder}/shm_exporter.prom`) ? read() : '';
        const { body } = await scrape(url);
        const ready = byApp(body, 'shm_exporter_internal_target_ready');
        const areReady = ready.get('ads') === '1' && ready.get('adh') === '1';
        // The page belongs to this file only if the exporter has not replaced the file in the meantime.
        return areReady && before === read() ? { page: body, file: before } : undefined;
      });
      const error = 'node_textfile_scrape_error{}';
      expect(seriesOf(page).get(error)).to.equal('0');

      // The collector gives all series of a family the same label names, some with empty values, and writes
      // bounds in its own way.
      const names = (text: string) =>
        samplesOf(text)
          .filter(({ name }) => /^ad[sh]_/.test(name))
          .map(({ name, labels }) => {
            const own = Object.entries(labels)
              .filter(([, value]) => value !== '')
              .map(([label, value]): [string, string] => [
                label,
                label === 'le' ? String(Number(value)) : value,
              ]);
            return seriesKey(name, Object.fromEntries(own));
          })
          .sort();
      expect(names(page)).to.deep.equal(names(file));

      await exporter.stop();
      await waitFor('no series of a target', async () =>
        byApp((await scrape(url)).body, 'shm_exporter_internal_target_ready').size === 0
          ? true
          : undefined,
      );
      await collector.stop();
    });
  });
});
