// The levels of internal metrics: which metrics an exporter shows about itself, and how many series they have.
import { expect } from 'chai';
import { shop } from '../specification/shop.js';
import { testPrograms, waitFor } from '../support/processes.js';
import { applicationPart, readyPage, samplesOf, scrape } from './page.js';
import type { Sample } from './page.js';

const MAX_OF_TARGET = 6;
const MAX_OF_PROCESS = 20;

const OF_TARGET = [
  'shm_exporter_publisher_state',
  'shm_exporter_target_info',
  'shm_exporter_internal_target_ready',
  'shm_exporter_target_left_out',
  'shm_exporter_target_heartbeat_age_seconds',
  'shm_exporter_target_highlighted_value',
];
/** Those that the configuration of this test has. */
const OF_PROCESS = [
  'process_start_time_seconds',
  'process_cpu_seconds_total',
  'process_resident_memory_bytes',
  'process_open_fds',
  'process_max_fds',
  'nodejs_eventloop_utilization',
  'shm_exporter_build_info',
  'shm_exporter_license_expiry_timestamp_seconds',
  'shm_exporter_license_state',
  'shm_exporter_config_last_reload_successful',
  'shm_exporter_config_hash',
  'shm_exporter_scopes_unmatched',
  'shm_exporter_discovered_targets',
  'shm_exporter_discovery_left_out',
  'shm_exporter_merged_clashing_metrics',
  'shm_exporter_http_cut_responses_total',
  'shm_exporter_http_dropped_connections_total',
];
/** Metrics of the web configuration and of a faulty file in targets.d, which add a series each. */
const OF_OTHERS = 3;

describe('internal metrics', function () {
  this.slow(3000);
  const programs = testPrograms();
  const targets = ['1', '2', '3', 'missing'].map(
    (key) =>
      `[[targets]]\napp = "shop"\nserver_key = "${key}"\n${key === '1' ? 'variable = "count"\n' : ''}`,
  );
  const more = [
    '[host_page]\nenabled = true\n',
    '[discover]\nnative = ["found-*"]\n',
    '[[metric_scopes]]\nname = "inside"\nmetrics = ["shm_exporter_target_refresh_total"]\n',
    ...targets,
  ].join('');

  before(() => {
    for (const server_key of ['1', '2', '3', 'found-1'])
      programs.publish({ server_key, objects: shop(`h.${server_key}.shop`, 7) });
  });

  async function started(settings: object): Promise<string> {
    const file = programs.config({ metrics_path: '/metrics', ...settings }, more);
    const url = await programs.start('exporter', ['--config', file]).url();
    const { origin } = new URL(url);
    await waitFor('four targets are ready', async () => {
      const { body } = await scrape(`${origin}/-/all`);
      return body.match(/^shm_target_up\{.*\} 1$/gm)?.length === 4 ? true : undefined;
    });
    return origin;
  }

  describe('of the level basic', () => {
    let origin = '';
    let samples: readonly Sample[] = [];

    before(async () => {
      origin = await started({ internal_metrics: 'basic' });
      samples = samplesOf((await scrape(`${origin}/-/metrics`)).body);
    });

    const isOfTarget = ({ labels }: Sample): boolean => labels['server_key'] !== undefined;

    it(`have at most ${MAX_OF_TARGET} series for each target at /-/metrics`, () => {
      const seriesOfKey = (key: string): readonly string[] =>
        samples.filter(({ labels }) => labels['server_key'] === key).map(({ name }) => name);
      expect(seriesOfKey('1')).to.have.members(OF_TARGET);
      for (const key of ['1', '2', '3', 'missing', 'found-1'])
        expect(seriesOfKey(key), key).to.have.lengthOf.within(1, MAX_OF_TARGET);
      for (const { name, labels, value } of samples.filter(isOfTarget))
        if (name === 'shm_exporter_publisher_state') {
          expect(value).to.equal('1');
          expect(labels['state']).to.equal(labels['server_key'] === 'missing' ? 'absent' : 'live');
        }
    });

    it(`have at most ${MAX_OF_PROCESS} series for the process`, () => {
      const own = samples.filter((each) => !isOfTarget(each)).map(({ name }) => name);
      expect(own).to.have.members(OF_PROCESS);
      expect(own.length + OF_OTHERS).to.be.at.most(MAX_OF_PROCESS);
    });

    it('are a few on the page of a target', async () => {
      const page = await readyPage(`${origin}/metrics?server_key=1`);
      const application = samplesOf(applicationPart(page)).length;
      const names = samplesOf(page)
        .slice(application)
        .map(({ name }) => name);
      expect(names).to.have.members(
        OF_TARGET.filter((name) => name !== 'shm_exporter_publisher_state'),
      );
    });

    it('exclude others also from scopes', async () => {
      const { status, body } = await scrape(`${origin}/metrics/inside?server_key=1`);
      expect(status).to.equal(404);
      expect(body).to.equal('scope "inside" matches no rendered metrics\n');
      const unmatched = samples.find(({ name }) => name === 'shm_exporter_scopes_unmatched');
      expect(unmatched?.value).to.equal('1');
    });
  });

  it('are not on the pages of targets with pages_without_internal_metrics', async () => {
    const origin = await started({ pages_without_internal_metrics: true });
    const page = await readyPage(`${origin}/metrics?server_key=1`);
    expect(page).not.to.contain('shm_exporter_');
    expect(samplesOf(page)).not.to.be.empty;
    const { body } = await scrape(`${origin}/-/metrics`);
    expect(body).to.contain('\nshm_exporter_target_refresh_total{');
  });
});
