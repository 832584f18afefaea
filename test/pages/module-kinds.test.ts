// Tests the module kinds and type checks in docs/publish-typescript.md: each compiles and runs.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { PROJECT } from '../support/processes.js';
import { temporaryFolder } from '../support/temporary-folder.js';

const IMPORT = "import { Publisher } from 'shm-publisher';\n";
const REQUIRE = "const { Publisher } = require('shm-publisher');\n";
/** Code that is compiled but never run. */
const WRONG = `// @ts-expect-error: a number has no observations
export const wrong = () => publisher.addVariable(root, 'wrong', 'u64').observe(1);
`;
/**
 * A program that uses every type that the package exports. It does not place its segment, so it leaves no
 * file.
 */
const PROGRAM = `
const publisher = new Publisher({ serverKey: 'modules', contextId: 'pages_${process.pid}' });
const root = publisher.addRoot('host.1.shop', 'Shop', { state: 'init', identity: { instance: '2' } });
publisher.addVariable(root, 'sales', 'u64', { kind: 'counter' }).set(12n);
publisher.addVariable(root, 'delay', 'histogram', { schema: [1] }).observe(0.5);
publisher.addVariable(root, 'size', 'summary', { schema: [0.5] }).set(1, 2, [2]);
publisher.addVariable(root, 'region', 'string').set('north');
publisher.setState(root, 'normal');
publisher.close();
`;

/** Expressions that compile with the types of prom-client. */
const PROM_CLIENT = `
import client, { Counter, MetricType, contentType, register } from 'shm-publisher/prom-client';
import type { Metric } from 'shm-publisher/prom-client';
import * as all from 'shm-publisher/prom-client';

const help = 'Requests.';
const counter: Counter<'code'> = new Counter({ name: 'requests', help, labelNames: ['code'] });
export const metrics: Metric<'code'>[] = [counter];
export const types: string[] = [contentType, all.contentType, client.contentType];
const type: MetricType | undefined = register.getMetricsAsArray()[0]?.type;
if (type !== MetricType.Counter) throw new Error(String(type));
export async function texts(): Promise<unknown[]> {
  const shown: string = (await register.getMetricsAsArray())[0].help;
  const { value, labels } = (await counter.get()).values[0];
  return [shown, value, labels.code, (await register.getMetricsAsJSON())[0].values[0].value];
}
`;

/** Uses of all types of prom-client, with their type parameters. */
const typesOf = (library: string): string => `
import { Counter, Gauge, Histogram, Pushgateway, Registry, Summary, collectDefaultMetrics, register } from '${library}';
import type { Aggregator, Charset, CollectFunction, Collector, CounterConfiguration, DefaultMetricsCollectorConfiguration,
  GaugeConfiguration, HistogramConfiguration, IncreaseDataWithExemplar, LabelValues, Metric, MetricConfiguration,
  MetricObject, MetricObjectWithValues, MetricValue, MetricValueWithName, ObserveDataWithExemplar, OpenMetricsContentType,
  OpenMetricsMIME, OpenMetricsVersion, PrometheusContentType, PrometheusMIME, PrometheusMetricsVersion,
  RegistryContentType, SummaryConfiguration } from '${library}';

export type Texts = [Aggregator, Charset, OpenMetricsMIME, OpenMetricsVersion, PrometheusMIME, PrometheusMetricsVersion];
export const open = new Registry<OpenMetricsContentType>();
export const content: RegistryContentType = open.contentType;
const defaults: DefaultMetricsCollectorConfiguration<OpenMetricsContentType> = { register: open, prefix: 'my_' };
export const collectors: Collector[] = [() => collectDefaultMetrics(defaults), () => collectDefaultMetrics({ prefix: 'a_' })];
export let gateway: Pushgateway<OpenMetricsContentType>;
export const push = () => new Pushgateway<OpenMetricsContentType>('http://127.0.0.1:9091', {}, open);
export const labels: LabelValues<'code'> = { code: 200 };
const collect: CollectFunction<Gauge<'code'>> = function () { this.set({ code: 200 }, 1); };
const common: MetricConfiguration<'code'> = { name: 'common', help: 'Help.', labelNames: ['code'] };
const counting: CounterConfiguration<'code'> = { name: 'a', help: 'A.', labelNames: ['code'] };
const gauging: GaugeConfiguration<'code'> = { name: 'b', help: 'B.', labelNames: ['code'], collect };
const observing: HistogramConfiguration<'code'> = { name: 'c', help: 'C.', buckets: [1], enableExemplars: true };
const summing: SummaryConfiguration<'code'> = { name: 'd', help: 'D.', percentiles: [0.5] };
export const metrics = (): Metric<'code'>[] =>
  [new Counter(counting), new Gauge(gauging), new Histogram(observing), new Summary(summing)];
export const increase: IncreaseDataWithExemplar<'code'> = { value: 1, labels, exemplarLabels: labels };
export const observation: ObserveDataWithExemplar<'code'> = { value: 1, labels, exemplarLabels: labels };
export const all: Promise<MetricObjectWithValues<MetricValue<string>>[]> = register.getMetricsAsJSON();
export const objects: MetricObject[] = register.getMetricsAsArray();
export const one = async (): Promise<MetricObjectWithValues<MetricValue<'code'>>> => new Counter(counting).get();
export const other = async (): Promise<MetricObjectWithValues<MetricValueWithName<'code'>>> => new Summary(summing).get();
export { common };
`;

describe('a program that imports the publisher', function () {
  this.slow(10_000);
  const folder = temporaryFolder();
  beforeEach(() => {
    mkdirSync(folder.path('node_modules'));
    symlinkSync(join(PROJECT, 'dist/shm-publisher'), folder.path('node_modules/shm-publisher'));
  });

  /** Type-checks all declarations, including the package's, with no types except those of the language. */
  function compiled(files: readonly string[], text: string, ...options: readonly string[]) {
    for (const file of files) folder.write(file, text);
    const tsc = join(PROJECT, 'node_modules/typescript/bin/tsc');
    const words = ['--strict', '--skipLibCheck', 'false', '--lib', 'es2023'];
    const { stdout } = spawnSync(
      process.execPath,
      [tsc, ...words, '--target', 'es2023', ...options, ...files],
      { cwd: folder.path(), encoding: 'utf8' },
    );
    return stdout;
  }
  const ran = (file: string) => {
    const { status, stderr } = spawnSync(process.execPath, [file], {
      cwd: folder.path(),
      encoding: 'utf8',
    });
    return { status, errors: stderr.replace(/.*ExperimentalWarning.*\n.*\n/, '') };
  };
  const DONE = { status: 0, errors: '' };

  it('compiles as shop.mts and as shop.cts with the module setting nodenext and without @types/node, and runs', () => {
    const text = IMPORT + PROGRAM + WRONG;
    expect(compiled(['shop.mts', 'shop.cts'], text, '--module', 'nodenext')).to.equal('');
    for (const output of ['shop.mjs', 'shop.cjs']) expect(ran(output)).to.deep.equal(DONE);
  });

  it('compiles with the expressions of a program that uses prom-client, and runs', () => {
    const files = ['client.mts', 'client.cts'];
    expect(compiled(files, PROM_CLIENT, '--module', 'nodenext')).to.equal('');
    for (const output of ['client.mjs', 'client.cjs']) expect(ran(output)).to.deep.equal(DONE);
  });

  for (const library of ['prom-client', 'shm-publisher/prom-client'])
    it(`compiles with every type of prom-client, imported from ${library}`, () => {
      symlinkSync(
        join(PROJECT, 'node_modules/prom-client'),
        folder.path('node_modules/prom-client'),
      );
      const options = ['--module', 'nodenext', '--noEmit'];
      expect(compiled(['types.mts'], typesOf(library), ...options)).to.equal('');
    });

  it('compiles for a bundler', () => {
    const options = ['--module', 'esnext', '--moduleResolution', 'bundler', '--noEmit'];
    expect(compiled(['shop.ts'], IMPORT + PROGRAM, ...options)).to.equal('');
  });

  for (const [format, output] of [
    ['esm', 'shop.mjs'],
    ['cjs', 'shop.cjs'],
  ] as const)
    it(`runs as an esbuild bundle in the format ${format} if the package stays external`, () => {
      const file = folder.write('shop.ts', IMPORT + PROGRAM);
      const words = [
        '--bundle',
        '--platform=node',
        '--external:shm-publisher',
        `--format=${format}`,
      ];
      const outfile = `--outfile=${folder.path(output)}`;
      const esbuild = join(PROJECT, 'node_modules/.bin/esbuild');
      const { status, stderr } = spawnSync(esbuild, [file, ...words, outfile], {
        encoding: 'utf8',
      });
      expect(status, stderr).to.equal(0);
      expect(ran(output)).to.deep.equal(DONE);
    });

  it('compiles as a CommonJS file with the module setting node16, under which ES modules cannot be required', () =>
    expect(compiled(['shop.cts'], IMPORT + PROGRAM, '--module', 'node16')).to.equal(''));

  it('runs as a CommonJS file in JavaScript', () => {
    folder.write('shop.cjs', REQUIRE + PROGRAM);
    expect(ran('shop.cjs')).to.deep.equal(DONE);
  });
});
