// Compares whole pages with the pages in test/golden. `npm run golden -- --update` writes new ones: read
// the difference before you commit it.
import { expect } from 'chai';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { configuration, BRIDGED, BRIDGE_APP, EXPORTED, TARGETS } from '#app/demo/configuration.js';
import { readOpenMetrics } from '../support/open-metrics-checker.js';
import { PROJECT, waitFor, isInstalled, testPrograms } from '../support/processes.js';
import { RECORDED_DIRECTORIES, extractRecorded } from '../multiprocess/recorded-directories.js';
import { LINTED, applicationPart, openMetricsErrors, promtoolLines } from './page.js';
import { recordedJdks, recordedJvm, recordedVarnish } from './recorded-inputs.js';

const UPDATE = 'npm run golden -- --update writes it';
const isUpdate = process.argv.includes('--update');
const OPEN_METRICS = 'application/openmetrics-text';
/** Options of a simulated tree that never changes and is the same in every run. */
const STILL = ['--objects', '60', '--rate', '0', '--seed', '42'];
const FEW = ['--objects', '12'];

/** Pairs: a text that differs between runs, and its placeholder. */
type Placeholders = readonly (readonly [string | RegExp, string])[];

/** The values of the exporter's own metrics, and their labels that depend on the machine or the release. */
const OWN: Placeholders = [
  [/^(shm_exporter_.*) \S+$/gm, '$1 VALUE'],
  [/\b(version|revision|nodeversion|partition)="[^"]*"(?=[^\n]* VALUE$)/gm, '$1="…"'],
];

const withPlaceholders = (page: string, placeholders: Placeholders): string =>
  placeholders.reduce((text, [what, by]) => text.replaceAll(what, by), page);

/** Compares a page with the golden file of this name. */
function compare(name: string, page: string, placeholders: Placeholders = []): void {
  const path = join(PROJECT, 'test/golden', name);
  const shown = withPlaceholders(page, placeholders);
  if (isUpdate) writeFileSync(path, shown);
  const known = readFileSync(path, 'utf8');
  const [lines, knownLines] = [shown.split('\n'), known.split('\n')];
  const added = lines.filter((line) => !knownLines.includes(line));
  const removed = knownLines.filter((line) => !lines.includes(line));
  expect({ added, removed }, `${name}: ${UPDATE}`).to.deep.equal({ added: [], removed: [] });
  const first = lines.findIndex((line, index) => line !== knownLines[index]);
  expect(lines[first], `the order in ${name}: ${UPDATE}`).to.equal(knownLines[first]);
  expect(lines.length, `the length of ${name}: ${UPDATE}`).to.equal(knownLines.length);
}

/**
 * Lints a page, if promtool is installed.
 * @param known the objections to allow, besides those to the exporter's own metrics
 */
function lint(page: string, known = /^$/): void {
  if (!isInstalled('promtool')) return;
  const objections = promtoolLines(page).filter((line) => !known.test(line));
  expect(objections.sort()).to.deep.equal(LINTED);
}

/** Returns the whole page of a target, in text 0.0.4 or another format, once the page has this line. */
const pageOf = (url: string, line: RegExp, accept = 'text/plain'): Promise<string> =>
  waitFor(`${url} has ${line.source}`, async () => {
    const response = await fetch(url, { headers: { accept } });
    const page = await response.text();
    return response.ok && line.test(page) ? page : undefined;
  });

describe('a whole page', function () {
  this.slow(5000);
  const programs = testPrograms();

  interface GoldenPage {
    readonly name: string;
    readonly url: string;
    /** A line that a complete page has. */
    readonly line: RegExp;
    readonly placeholders?: Placeholders;
    /** Known objections of promtool. */
    readonly known?: RegExp;
  }

  /** Compares the application's part of a page in both formats, and lints the whole pages. */
  async function compareBoth({ name, url, line, placeholders, known }: GoldenPage): Promise<void> {
    const text = await pageOf(url, line);
    compare(`${name}.prom`, applicationPart(text), placeholders);
    const openMetrics = await pageOf(url, line, OPEN_METRICS);
    compare(`${name}.openmetrics`, applicationPart(openMetrics), placeholders);
    readOpenMetrics(openMetrics);
    lint(text, known);
    if (isInstalled('promtool')) expect(openMetricsErrors(openMetrics)).to.equal('');
  }

  for (const [index, app] of ['ads', 'adh', 'ats'].entries())
    it(`of a simulated ${app} equals test/golden/${app}`, async () => {
      const key = String(index + 1);
      const root = `golden.1.${app}`;
      programs.simulate('--app', app, '--server-key', key, '--root', root, ...STILL);
      const url = await programs.exporter({ app, server_keys: [key] }).url();
      await compareBoth({ name: app, url, line: /^# HELP shm_exporter_/m });
    });

  /** The address of an exporter with one target of another format. */
  const foreign = (app: string, serverKey: string, format: string, settings: string) => {
    const target = { app, server_key: serverKey, format };
    const lines = Object.entries(target).map(([key, value]) => `${key} = "${value}"\n`);
    const table = `[[targets]]\n${lines.join('')}format_settings = { ${settings} }\n`;
    // Let each scrape show the present values.
    const config = programs.config({ render_min_interval_ms: 1 }, table);
    return programs.start('exporter', ['--config', config]).url();
  };

  for (const [jdk, collectors] of recordedJdks())
    it(`of recorded JVMs equals test/golden/jvm-${jdk}`, async () => {
      const directories: string[] = [];
      const placeholders: [string, string][] = [];
      for (const collector of collectors) {
        const { directory, pid } = await recordedJvm(programs, jdk, collector);
        directories.push(directory);
        placeholders.push([`pid="${pid}"`, `pid="${collector}"`]);
      }
      const settings = `directories = ${JSON.stringify(directories)}`;
      const url = await foreign('jvm', 'jvm', 'hsperfdata', settings);
      const line = new RegExp(`(^jvm_info.*vendor=.*\n){${collectors.length}}`, 'm');
      await compareBoth({ name: `jvm-${jdk}`, url, line, placeholders });
    });

  for (const names of ['compat', 'clean'])
    it(`of a recorded Varnish equals test/golden/varnish-7.1.1-${names}`, async () => {
      const { directory, startedS } = recordedVarnish(programs, '7.1.1', names);
      const settings = `directory = ${JSON.stringify(directory)}, names = "${names}"`;
      const url = await foreign('varnish', 'shop', 'varnish', settings);
      await compareBoth({
        name: `varnish-7.1.1-${names}`,
        url,
        // The results of probes appear after all other values.
        line: /^varnish_backend_up.*second.*bad"/m,
        placeholders: [[` ${startedS}\n`, ' SECONDS\n']],
        // Metric names that prometheus_varnish_exporter also uses.
        ...(names === 'compat' && {
          known: /^varnish_.*(should have "_total" suffix|abbreviated units)$/,
        }),
      });
    });

  for (const recorded of RECORDED_DIRECTORIES) {
    const name = `multiprocess-${recorded.name}`;
    it(`of recorded workers equals test/golden/${name}`, async () => {
      const directory = extractRecorded(recorded, programs.path(name));
      const settings = `directories = ["${directory}"]`;
      await compareBoth({
        name,
        url: await foreign('shop', name, 'multiprocess', settings),
        line: /^shop_size_bytes_count/m,
        // Names of the recorded application.
        known: /^shop(:colons_total|_starts|_sum|_latency_seconds) .*/,
      });
    });
  }

  it('of two targets in one document equals test/golden/merged.prom', async () => {
    const tables = ['ads', 'ats'].map((app, index) => {
      const key = String(index + 4);
      const root = `golden.1.${app}`;
      programs.simulate('--app', app, '--server-key', key, '--root', root, ...STILL, ...FEW);
      return `[[targets]]\napp = "${app}"\nserver_key = "${key}"\n`;
    });
    const config = programs.config(
      { metrics_http_enabled: false, metrics_interval_seconds: 60 },
      tables.join(''),
    );
    const exporter = programs.start('exporter', [
      ...['--config', config, '--once', '--stdout-format', 'merged'],
    ]);
    expect(await exporter.ended).to.deep.equal({ status: 0, signal: null });
    compare('merged.prom', exporter.stdout, OWN);
    lint(exporter.stdout);
  });

  it("of the demo's exporter equals test/golden/demo-exporter.prom", async () => {
    for (const { app, serverKey, root } of TARGETS)
      programs.simulate('--app', app, '--server-key', serverKey, '--root', root, ...STILL);
    // The bridge publishes its own root beside the component's root.
    const objects = [BRIDGED.root, `other-host.1.${BRIDGE_APP}`].map((id) => ({
      id,
      class: 'Root',
      variables: { time: { type: 'u64', value: 1 } },
    }));
    programs.publish({ server_key: BRIDGED.serverKey, objects });
    mkdirSync(programs.path('shop'));
    const settings = configuration({
      contextId: programs.contextId,
      licenseFile: programs.license,
      jvmDirectories: [programs.path('hsperfdata_*')],
      shopDirectory: programs.path('shop'),
      isStdout: false,
      port: 0,
    });
    const exporter = programs.start('exporter', [
      '--config',
      programs.write('demo.toml', settings),
    ]);
    const url = await exporter.url();
    const own = url.replace(/\/metrics$/, '/-/metrics');
    const every = (line: string) => new RegExp(`(^${line}\\n){${EXPORTED.length}}`, 'm');
    // Wait until all targets are ready. Otherwise the requests below would get 503, and this page counts
    // those.
    await pageOf(own, every('shm_exporter_internal_target_ready.* 1'));
    for (const { app, serverKey } of EXPORTED)
      await pageOf(`${url}?app=${app}&server_key=${serverKey}`, /^# TYPE/m);
    // The durations appear within a second.
    const page = await pageOf(own, every('shm_exporter_target_refresh_duration_p99_ms.*'));
    // The process and nodejs metrics depend on the version of Node.js. Families are listed in the order in
    // which they first had a value, which differs between runs.
    const families = page
      .trimEnd()
      .split(/\n+(?=# HELP )/)
      .sort();
    const shown = families.filter((each) => each.startsWith('# HELP shm_exporter_'));
    const text = `${shown.join('\n')}\n`;
    compare('demo-exporter.prom', text, [...OWN, [`root="${hostname()}.`, 'root="HOST.']]);
    lint(text);
  });
});
