// Writes the generated pages of docs/, the lines that lead from page to page, and the dashboards;
// with --check it says which of them are stale.
import { readFileSync, readdirSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import Mocha from 'mocha';
import { listedPages, withNavigation } from '../dist-test/docs/documentation.js';
import { SECTIONS } from '../dist-test/specification/rows.js';
import { shownRows } from '../dist-test/specification/shown-rows.js';
import { ROWS_OF_SUITES } from '../dist-test/specification/shows.js';
import { specificationMarkdown } from '../dist-test/specification/specification-markdown.js';
import { bridgeMarkdown } from '../dist/bridge/settings/configuration-doc.js';
import { metricsMarkdown } from '../dist/catalogue/metrics-markdown.js';
import { settingsMarkdown } from '../dist/config/settings-doc.js';
import { dashboardTexts } from '../dist/dashboards/dashboard-files.js';
import { FORMATS } from '../dist/targets/formats.js';
import { INTERNAL_METADATA } from '../dist/targets/internal-metrics.js';

/** The tests that show each row of the specification; they are loaded for it, not run. */
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
/** The page with the table of the metrics of a target between its two comments. */
function internalMetricsMarkdown() {
  const rows = INTERNAL_METADATA.map(
    ({ name, type, help }) => `| \`${name}\` | ${type} | ${help} |\n`,
  );
  const table = `| Metric | Type | Meaning |\n|---|---|---|\n${rows.join('')}`;
  return readFileSync('docs/internal-metrics.md', 'utf8').replace(
    /(<!-- generated: target metrics -->\n)[^]*(<!-- end -->)/,
    (_, start, end) => `${start}\n${table}\n${end}`,
  );
}

const generated = {
  'docs/bridge-configuration.md': bridgeMarkdown,
  'docs/configuration.md': () => settingsMarkdown(FORMATS),
  'docs/internal-metrics.md': internalMetricsMarkdown,
  'docs/metrics.md': metricsMarkdown,
};
const pages = listedPages().map((page) => [
  page.path,
  async () => {
    const make = generated[page.path] ?? (() => readFileSync(page.path, 'utf8'));
    return withNavigation(page, await make());
  },
]);
const specification = [
  'test/specification/README.md',
  async () => specificationMarkdown(SECTIONS, await tests()),
];
const isCheck = process.argv.includes('--check');

for (const [path, make] of [...dashboards, specification, ...pages]) {
  const text = await make();
  if (!isCheck) writeFileSync(path, text);
  else if (readFileSync(path, 'utf8') !== text) {
    console.error(`${path} is stale: run "npm run docs"`);
    process.exitCode = 1;
  }
}
