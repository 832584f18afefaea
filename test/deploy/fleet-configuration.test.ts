// Tests that the real Prometheus, vmagent and vmalert accept the files of deploy/fleet, and that all have the same jobs.
import { expect } from 'chai';
import { spawnSync } from 'node:child_process';
import { cpSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { needsNewer, newer } from '../support/newer-programs.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { ALERT_FILES, RECORD_FILES } from './rule-files.js';

const FLEET = 'deploy/fleet';
const STORE = '-remoteWrite.url=http://127.0.0.1:9/api/v1/write';

interface Job {
  readonly job_name: string;
  readonly metrics_path: string;
  readonly honor_labels: boolean;
  readonly sample_limit: number;
  readonly body_size_limit?: string;
  readonly max_scrape_size?: string;
}
const read = (file: string): string => readFileSync(file, 'utf8');
const jobsOf = (file: string): readonly Job[] =>
  (parse(read(join(FLEET, file))) as { readonly scrape_configs: readonly Job[] }).scrape_configs;

/** The output of a program that rejects its input; empty if it accepts it. */
function rejection(program: string, ...args: readonly string[]): string {
  const { status, stdout, stderr } = spawnSync(newer(program), args, { encoding: 'utf8' });
  return status === 0 ? '' : `${stdout}${stderr}`;
}

/** Returns a file without the # before each line that is a setting, not a sentence. */
const uncommented = (text: string): string => text.replaceAll(/^( *)#(?=\S)/gm, '$1');

describe(FLEET, function () {
  this.slow(5000);
  const folder = temporaryFolder();

  /** Copies deploy with all settings of a file uncommented. Returns the path of the file. */
  function withAllSettings(file: string): string {
    cpSync('deploy', folder.path('deploy'), { recursive: true });
    const copy = folder.path(join(FLEET, file));
    writeFileSync(copy, uncommented(read(join(FLEET, file))));
    return copy;
  }

  for (const [file, ...options] of [
    ['prometheus.yml'],
    ['agent.yml', '--agent'],
    ['kubernetes.yml'],
  ] as const) {
    it(`has a ${file} that Prometheus 3 accepts, also with the settings in comments`, function () {
      needsNewer(this, 'promtool');
      for (const path of [join(FLEET, file), withAllSettings(file)])
        expect(rejection('promtool', 'check', 'config', ...options, path)).to.equal('');
    });
  }

  for (const file of ['vmagent.yml', 'kubernetes.yml'])
    it(`has a ${file} that vmagent accepts`, function () {
      needsNewer(this, 'vmagent');
      const config = `-promscrape.config=${join(FLEET, file)}`;
      expect(rejection('vmagent', '-dryRun', config, STORE)).to.equal('');
    });

  it('notices a misspelt setting in each way', function () {
    needsNewer(this, 'promtool', 'vmagent');
    const wrong = (file: string) =>
      folder.write(file, read(join(FLEET, file)).replace('sample_limit', 'samples_limit'));
    const prometheus = rejection('promtool', 'check', 'config', '--agent', wrong('agent.yml'));
    expect(prometheus).to.contain('samples_limit');
    const config = `-promscrape.config=${wrong('vmagent.yml')}`;
    expect(rejection('vmagent', '-dryRun', config, STORE)).to.contain('samples_limit');
  });

  it('has rules beside it that vmalert accepts', function () {
    needsNewer(this, 'vmalert');
    const rules = [...ALERT_FILES, ...RECORD_FILES].map((file) => `-rule=${file}`);
    expect(rejection('vmalert', '-dryRun', ...rules)).to.equal('');
  });

  it('has the same jobs for Prometheus, its agent, vmagent and Kubernetes', () => {
    const common = (file: string) =>
      jobsOf(file).map(({ job_name, metrics_path, honor_labels, sample_limit }) => {
        return { job_name, metrics_path, honor_labels, sample_limit };
      });
    const expected = common('prometheus.yml');
    expect(expected.map(({ job_name, metrics_path }) => [job_name, metrics_path])).to.deep.equal([
      ['shm', '/-/all'],
      ['shm_exporter', '/-/metrics'],
    ]);
    for (const file of ['agent.yml', 'vmagent.yml', 'kubernetes.yml'])
      expect(common(file), file).to.deep.equal(expected);
    const bytes = (file: string) =>
      jobsOf(file).map(
        ({ body_size_limit, max_scrape_size }) => body_size_limit ?? max_scrape_size,
      );
    for (const file of ['agent.yml', 'vmagent.yml'])
      expect(bytes(file), file).to.deep.equal(bytes('prometheus.yml'));
  });
});
