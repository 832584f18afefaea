// Tests that each feature which docs/comparison.md claims for this exporter has a test.
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const page = readFileSync('docs/comparison.md', 'utf8');
/** The cells of each row in the tables below "General exporters". */
const ROWS = page
  .slice(page.indexOf('## General exporters'))
  .split('\n')
  .filter((line) => line.startsWith('| ') && !line.startsWith('| |'))
  .map((line) => line.slice(2, -2).split(' | '));

/** For each feature of this exporter, the file that tests it and the beginning of the test's title. */
const TESTS: Readonly<Record<string, readonly [file: string, title: string]>> = {
  'several listen addresses, IPv6': ['end-to-end/listening.test.ts', 'can have several addresses'],
  'socket activation by systemd': [
    'end-to-end/listening.test.ts',
    'can be a TCP socket that systemd opened',
  ],
  'check of the configuration without starting': [
    'config/arguments.test.ts',
    'selects a check with --check-config',
  ],
  'all faults of a file in one run, with their lines': [
    'config/config-errors.test.ts',
    'report a hundred problems',
  ],
  'web configuration: TLS, passwords, headers, rate limit': [
    'end-to-end/web-config.test.ts',
    'answers 429 to requests above rate_limit',
  ],
  'new certificates without a restart': [
    'end-to-end/web-config.test.ts',
    'applies renewed certificates',
  ],
  'limit on concurrent scrapes': [
    'exporter/sinks.test.ts',
    'is HTTP if metrics_http_enabled is true, with limits on scrapes',
  ],
  'limits on connections and slow clients': [
    'sinks/http/limits.test.ts',
    'lets other clients connect even if clients with slow request heads occupy all allowed connections',
  ],
  'gzip, OpenMetrics': ['sinks/http/http.test.ts', 'with OpenMetrics on request'],
  'subset of the metrics on request': [
    'sinks/http/http.test.ts',
    'a scope in the path like a scope in the query',
  ],
  'several targets in one process': [
    'specification/startup.test.ts',
    'the exporter keeps metrics and counters of each target separate',
  ],
  'target list for `http_sd_configs`': ['end-to-end/prometheus.test.ts', 'labels each target'],
  'HTML status page': ['sinks/http/http.test.ts', 'the status page at /'],
  'all values in a browser': ['end-to-end/described.test.ts', 'becomes a metric of each target'],
  'health and readiness probes': ['sinks/http/http.test.ts', '/-/healthy with status 200'],
  'status for a target that is down': [
    'sinks/http/http.test.ts',
    '503 with the sentence of spec 7',
  ],
  'logs as logfmt or JSON, by level': [
    'end-to-end/log.test.ts',
    'omits lines of a level below --log-level',
  ],
  'priorities for the journal': ['end-to-end/log.test.ts', 'has priorities'],
  'reload by SIGHUP': ['end-to-end/reload.test.ts', 'adds, removes and changes targets'],
  'reload by POST': ['end-to-end/reload.test.ts', 'has the same effect as POST /-/reload'],
  'readiness and watchdog for systemd': ['end-to-end/systemd.test.ts', 'sends watchdog messages'],
  'metrics of the exporter itself': [
    'sinks/http/http.test.ts',
    '/-/metrics with internal metrics of all targets',
  ],
  'live view on a terminal': ['dump/watch.test.ts', 'shows a change with its age'],
  'metrics that are in no configuration file': [
    'exposition/rows/uncatalogued.test.ts',
    'adds variables of objects with rows',
  ],
  'generator of a configuration file': ['dump/catalogue.test.ts', 'marks each guess'],
  'output without HTTP': ['end-to-end/shipped-lines.test.ts', 'arrive complete and in order'],
  'archive without dependencies': [
    'release/machine/tarball.test.ts',
    'allows a scrape within a minute',
  ],
  'Debian package': ['release/machine/debian-package.test.ts', 'passes lintian'],
  'container image': [
    'release/machine/container.test.ts',
    'serves the metrics of another container',
  ],
  'man pages, shell completions': ['release/pages.test.ts', 'exist for every program'],
  'bill of materials': ['release/machine/bill-of-materials.test.ts', 'has the format CycloneDX'],
  dashboards: ['deploy/dashboards-live.test.ts', 'fill every panel'],
  'alerts, each with a test and a runbook': [
    'deploy/alerts.test.ts',
    'has one test case for each alert',
  ],
  'recording rules': ['deploy/recording-rules.test.ts', 'are named level:metric:operations'],
};

describe('the comparison with other exporters', () => {
  for (const [feature = '', ...cells] of ROWS)
    it(`has a test or a reason for the row "${feature}"`, () => {
      expect(cells).to.have.length(4);
      const ours = cells.at(-1) ?? '';
      if (ours.startsWith('no: ')) {
        expect(ours.length).to.be.above(30);
        return;
      }
      expect(ours).to.match(/^yes(: .+)?$/);
      const [file = '', title = ''] = TESTS[feature] ?? [];
      const text = readFileSync(join('test', file), 'utf8');
      const titles = [...text.matchAll(/\bit\(\s*(['`])(.*?)\1,/g)];
      const found = titles.some(([, , each = '']) =>
        each.replace(/^\$\{\w+\}: /, '').startsWith(title),
      );
      expect(found, `${file}: ${title}`).to.equal(true);
    });

  it('has a row for each tested feature', () =>
    expect(ROWS.map(([feature]) => feature)).to.include.members(Object.keys(TESTS)));

  it('compares more than thirty features', () => expect(ROWS.length).to.be.above(30));
});
