import { expect } from 'chai';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { inBothModes } from '../support/modes.js';
import { PROJECT, testPrograms } from '../support/processes.js';
import type { Running } from '../support/processes.js';
import { UNOBSERVED, expectedSeries, subtree } from './oracle.js';
import type { ScenarioFile } from './oracle.js';
import {
  LINTED,
  applicationPart,
  promtoolLines,
  readyPage,
  samplesOf,
  scrape,
  seriesKey,
  seriesOf,
} from './page.js';
import { needs, needsPrograms } from '../support/needs.js';

const RECORDED = join(PROJECT, '../shared/data/adh-3.8-recorded.scenario.json');
const ROOT = 'lseg1.bgp59.com.1.adh';

const lines = (series: ReadonlyMap<string, string>): string[] =>
  [...series].map(([key, value]) => `${key} ${value}`).sort();
const plain = (text: string): string => text.toLowerCase().replace(/[^a-z0-9]/g, '');

inBothModes('the target of a recorded ADH 3.8', function (worker_execution_mode) {
  this.slow(3000);
  const programs = testPrograms();
  const recorded = (): ScenarioFile => JSON.parse(readFileSync(RECORDED, 'utf8')) as ScenarioFile;

  before('the recorded scenario is in ../shared/data', function () {
    needs(this, existsSync(RECORDED), 'the recorded tree is not beside the project');
  });

  describe('with the catalogue of adh', () => {
    let exporter: Running;
    let page = '';

    before(async () => {
      programs.publish(RECORDED);
      exporter = programs.exporter(
        { app: 'ads', worker_execution_mode },
        '--app',
        'adh',
        '--server-key',
        '80',
      );
      page = await readyPage(await exporter.url());
    });

    it('selects and logs the root of the process, not one of its thread roots (spec 1.3.5)', () => {
      const [info] = samplesOf(page).filter(({ name }) => name === 'shm_exporter_target_info');
      expect(info?.labels).to.include({ app: 'adh', server_key: '80', root: ROOT });
      expect(exporter.stderr).to.contain(`selects root ${ROOT} of server key 80`);
    });

    it('binds the descendants of the root (spec 1.3.6)', async () => {
      const objects = subtree(recorded(), ROOT);
      const variables = objects.reduce((sum, each) => sum + Object.keys(each.variables).length, 0);
      expect(objects.length).to.be.within(50, recorded().objects.length - 1);
      await exporter.line(new RegExp(`ready: ${objects.length} objects, ${variables} variables`));
    });

    it('has every application value of the scenario, and no other value', () => {
      const wanted = expectedSeries('adh', recorded(), ROOT);
      expect(wanted.size).to.be.greaterThan(150);
      const found = seriesOf(applicationPart(page));
      for (const [key, value] of wanted)
        if (value === UNOBSERVED && found.has(key)) found.set(key, UNOBSERVED);
      expect(lines(found)).to.deep.equal(lines(wanted));
    });

    it('shows every value of every variable if show_uncatalogued is true, and keeps the metrics of rows', async () => {
      const settings = { app: 'adh', server_keys: ['80'], worker_execution_mode };
      const exporter = programs.exporter({ ...settings, show_uncatalogued: true });
      const page = await readyPage(await exporter.url());
      const found = seriesOf(applicationPart(page));
      const wanted = expectedSeries('adh', recorded(), ROOT);
      for (const [key, value] of wanted)
        if (value !== UNOBSERVED) expect(found.get(key), key).to.equal(value);
      const ofRows = [...found.keys()].filter((key) => !key.includes('"object":'));
      expect(ofRows.sort()).to.deep.equal([...wanted.keys()].sort());
      const own = seriesOf(page);
      expect(own.get('shm_exporter_target_series_clashes_total{}')).to.equal('0');
      const without = Number(own.get('shm_exporter_target_variables_without_row{}'));
      expect(found.size - ofRows.length)
        .to.be.at.least(without)
        .and.above(1000);
    });

    it('passes promtool except for eight names that the specification prescribes', function () {
      needsPrograms(this, 'promtool');
      expect(promtoolLines(page).sort()).to.deep.equal(LINTED);
    });

    it('is not found by the app and instance of a thread root (spec 4.3.4)', async () => {
      const url = await exporter.url();
      const thread = `${url}?app=adh&instance=${ROOT}.1.sourceThread`;
      expect((await scrape(thread)).status).to.equal(404);
      expect((await scrape(`${url}?app=adh&instance=${ROOT}`)).status).to.equal(200);
    });
  });

  describe('without a catalogue', () => {
    const APP = 'other_name';
    const root = ROOT.replace(/adh$/, APP);
    let page = '';

    before(async () => {
      const text = readFileSync(RECORDED, 'utf8').replaceAll(`"${ROOT}`, `"${root}`);
      programs.publish(programs.write('renamed.json', text), '--server-key', '81');
      const exporter = programs.exporter({ app: APP, server_keys: ['81'], worker_execution_mode });
      page = await readyPage(await exporter.url());
    });

    it('shows every number under its class, variable and seed path, whatever characters these names contain', () => {
      const shown = new Map<string, string[]>();
      for (const { name, labels, value } of samplesOf(applicationPart(page))) {
        const key = seriesKey(value, { object: labels['object'] ?? '' });
        shown.set(key, [...(shown.get(key) ?? []), plain(name)]);
      }
      const missing: string[] = [];
      let numbers = 0;
      for (const object of subtree(recorded(), ROOT))
        for (const [variable, { type, value }] of Object.entries(object.variables)) {
          if (type === 'string' || value === undefined) continue;
          numbers++;
          const seedPath = object.id.slice(ROOT.length + 1);
          const labels = { object: seedPath === '' ? '@root' : seedPath };
          const names = shown.get(seriesKey(String(Number(value)), labels)) ?? [];
          const [start, end] = [plain(APP + object.class), plain(variable)];
          // If the class ends in the words with which the variable begins, the metric name has these words only once.
          if (!names.some((name) => name.startsWith(start) && name.endsWith(end)))
            missing.push(`${object.id} ${variable} ${String(value)}`);
        }
      expect(numbers).to.be.greaterThan(1000);
      expect(missing).to.deep.equal([]);
    });

    it('shows each string as an info metric, and has one series for each variable', () => {
      const objects = subtree(recorded(), ROOT);
      const texts = objects.flatMap(({ variables }) =>
        Object.values(variables).flatMap(({ type, value }) => (type === 'string' ? [value] : [])),
      );
      const all = objects.flatMap(({ variables }) => Object.keys(variables));
      const samples = samplesOf(applicationPart(page));
      const infos = samples.filter(({ labels }) => labels['value'] !== undefined);
      expect(infos.every(({ name, value }) => name.endsWith('_info') && value === '1')).to.be.true;
      expect(infos.map(({ labels }) => labels['value']).sort()).to.deep.equal(texts.sort());
      expect(samples.length).to.equal(all.length);
    });

    it('shows the unusual names of the recorded tree', () => {
      const objects = new Set(samplesOf(page).map(({ labels }) => labels['object'] ?? ''));
      expect(
        [...objects].some((path) => /^\d/.test(path)),
        'a seed path with a leading digit',
      ).to.be.true;
      const names = subtree(recorded(), ROOT).flatMap(({ variables }) => Object.keys(variables));
      for (const odd of [/#/, / /, /\./, /^\d/])
        expect(
          names.some((name) => odd.test(name)),
          `a variable name with ${odd.source}`,
        ).to.be.true;
    });

    it('gives a page that promtool accepts', function () {
      needsPrograms(this, 'promtool');
      const errors = promtoolLines(page).filter((line) => /error|invalid|expected/i.test(line));
      expect(errors).to.deep.equal([]);
    });
  });
});
