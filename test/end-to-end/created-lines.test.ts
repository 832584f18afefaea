// OpenMetrics pages with `_created` lines, read by two strict parsers: the one of the tests, and that of client_python.
import { spawnSync } from 'node:child_process';
import { expect } from 'chai';
import { needs } from '../support/needs.js';
import { readOpenMetrics } from '../support/open-metrics-checker.js';
import { testPrograms, waitFor } from '../support/processes.js';

/** Prints name and value of each sample of the page on stdin. */
const READ = `
import sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
for family in text_string_to_metric_families(sys.stdin.read()):
    for sample in family.samples:
        print(sample.name, float(sample.value))
`;

const python = (program: string, input = '') =>
  spawnSync('python3', ['-c', program], { input, encoding: 'utf8' });

describe('openmetrics_created_lines', function () {
  this.slow(5000);
  const programs = testPrograms();
  const startedAfter = Date.now() / 1000;
  let origin = '';

  const page = async (path: string): Promise<string> => {
    const headers = { accept: 'application/openmetrics-text; version=1.0.0' };
    return waitFor(`${path} is ready`, async () => {
      const response = await fetch(`${origin}${path}`, { headers });
      const text = await response.text();
      return response.status === 200 && text.includes('\nads_') ? text : undefined;
    });
  };
  const created = (text: string): readonly (readonly [string, number])[] =>
    readOpenMetrics(text).flatMap(({ samples }) =>
      samples
        .filter(({ name }) => name.endsWith('_created'))
        .map(({ name, value }): [string, number] => [name, value]),
    );

  before(async () => {
    programs.simulate('--app', 'ads', '--server-key', '82', '--objects', '60');
    const settings = { app: 'ads', server_keys: ['82'], openmetrics_created_lines: true };
    const config = programs.config(settings, '[host_page]\nenabled = true\n');
    origin = new URL(await programs.start('exporter', ['--config', config]).url()).origin;
  });

  for (const path of ['/metrics', '/-/all'])
    it(`adds the start of the publisher to each counter of ${path}`, async () => {
      const text = await page(path);
      const all = created(text);
      const counters = readOpenMetrics(text)
        .filter(({ name, type }) => type === 'counter' && name.startsWith('ads_'))
        .flatMap(({ samples }) => samples.filter(({ name }) => name.endsWith('_total')));
      expect(counters).not.to.have.lengthOf(0);
      expect(all).to.have.length.within(counters.length, 2 * counters.length);
      for (const [name, value] of all)
        expect(value, name).to.be.within(startedAfter, Date.now() / 1000);
    });

  it('makes pages that the strict parser of client_python takes', async function () {
    const isInstalled = python('import prometheus_client.openmetrics.parser').status === 0;
    needs(this, isInstalled, 'prometheus_client of Python is not installed');
    const text = await page('/metrics');
    const { stdout, stderr } = python(READ, text);
    expect(stderr).to.equal('');
    const read = stdout
      .split('\n')
      .map((line) => line.split(' '))
      .filter(([name]) => name?.endsWith('_created'));
    expect(read.map(([name, value]) => [name, Number(value)])).to.deep.equal(created(text));
  });
});
