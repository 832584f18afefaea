// Writes the generated pages of docs/, the navigation lines of all pages, and the dashboards. With --check, only
// reports the outdated files.
import { existsSync, readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import Mocha from 'mocha';
import { parse } from 'yaml';
import { listedPages, withNavigation } from '../dist-test/docs/documentation.js';
import { metricsMarkdown } from '../dist-test/docs/metrics-markdown.js';
import {
  bridgeParts,
  configurationParts,
  exitStatusesMarkdown,
  markdownTable,
  optionsMarkdown,
} from '../dist-test/docs/reference.js';
import { SECTIONS } from '../dist-test/specification/rows.js';
import { shownRows } from '../dist-test/specification/shown-rows.js';
import { ROWS_OF_SUITES } from '../dist-test/specification/shows.js';
import { specificationMarkdown } from '../dist-test/specification/specification-markdown.js';
import { PROGRAM as BRIDGE } from '../dist/bridge/settings/options.js';
import { PROGRAM as EXPORTER } from '../dist/config/arguments.js';
import { dashboardTexts } from '../dist/dashboards/dashboard-files.js';
import { PROGRAM as DUMP } from '../dist/dump/options.js';
import { PROGRAM as LICENSE } from '../dist/license/options.js';
import { PROGRAM as SIMULATOR } from '../dist/simulator/options.js';
import { INTERNAL_METADATA } from '../dist/targets/internal-metrics.js';

/** The tests for each row of the specification. Loads the test files without running them. */
async function tests() {
  const mocha = new Mocha();
  for (const file of readdirSync('dist-test', { recursive: true }).sort())
    if (file.endsWith('.test.js')) mocha.addFile(join('dist-test', file));
  await mocha.loadFilesAsync();
  const source = (file) => join('test', relative('dist-test', file)).replace(/\.js$/, '.ts');
  return new Map(
    [...shownRows(mocha.suite, ROWS_OF_SUITES)].map(([number, shown]) => [
      number,
      shown.map((test) => ({ ...test, file: source(test.file) })),
    ]),
  );
}

const dashboards = [...dashboardTexts()].map(([file, text]) => [
  `deploy/grafana/${file}`,
  () => text,
]);
/** A page, with new texts between its comments `generated: NAME` and `end`. */
const withParts = (path, parts = {}) =>
  Object.entries(parts).reduce(
    (page, [name, text]) =>
      page.replace(
        new RegExp(`(<!-- generated: ${name} -->\\n)[^]*?(<!-- end -->)`),
        (_, start, end) => `${start}\n${text}\n${end}`,
      ),
    readFileSync(path, 'utf8'),
  );

const targetMetrics = markdownTable(
  ['Metric', 'Type', 'Meaning'],
  INTERNAL_METADATA.map(({ name, type, help }) => [`\`${name}\``, type, help]),
);

/** The table rows for the alerts of a rule file: name, severity and condition. */
const alertRows = (file) =>
  parse(readFileSync(file, 'utf8')).groups.flatMap(({ rules }) =>
    rules.map(({ alert, expr, labels, for: time }) => [
      `[${alert}](#${alert.toLowerCase()})`,
      labels.severity,
      `\`${expr.replace(/\s+/g, ' ').trim().replaceAll('|', '\\|')}\`${time ? ` for ${time}` : ''}`,
    ]),
  );
const alertFiles = readdirSync('deploy/prometheus').filter((name) => name.endsWith('alerts.yml'));
const alerts = markdownTable(
  ['Alert', 'Severity', 'Condition'],
  alertFiles.sort().flatMap((name) => alertRows(`deploy/prometheus/${name}`)),
);

const PROGRAMS = [EXPORTER, BRIDGE, DUMP, LICENSE, SIMULATOR];
const parts = {
  'docs/alerts.md': { alerts },
  'docs/bridge-configuration.md': bridgeParts(),
  'docs/configuration.md': configurationParts(),
  'docs/internal-metrics.md': { 'target metrics': targetMetrics },
  'docs/metrics.md': { metrics: metricsMarkdown() },
  'docs/programs.md': {
    'exit statuses': exitStatusesMarkdown(PROGRAMS),
    shm_dump: optionsMarkdown(DUMP),
    shm_simulator: optionsMarkdown(SIMULATOR),
  },
};
const pages = listedPages().map((page) => [
  page.path,
  () => withNavigation(page, withParts(page.path, parts[page.path])),
]);
const specification = [
  'test/specification/README.md',
  async () => specificationMarkdown(SECTIONS, await tests()),
];
const isCheck = process.argv.includes('--check');

for (const [path, make] of [...dashboards, specification, ...pages])
  try {
    const text = await make();
    if (!isCheck) writeFileSync(path, text);
    else if (!existsSync(path) || readFileSync(path, 'utf8') !== text) {
      console.error(`${path} is ${existsSync(path) ? 'stale' : 'missing'}: run "npm run docs"`);
      process.exitCode = 1;
    }
  } catch (error) {
    // A page that is missing, a row of the specification without a test, or a test file that cannot be loaded.
    console.error(`${path} cannot be generated: ${error.message}`);
    process.exitCode = 1;
  }
