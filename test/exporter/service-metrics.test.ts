// The metrics of the process itself.
import { expect } from 'chai';
import { configHash, loadConfig } from '#app/config/resolve.js';
import { freePages, serviceMetrics } from '#app/exporter/service-metrics.js';
import { LICENSE_STATES, statusOf } from '#app/license/license.js';
import type { MetricLevel } from '#app/model.js';
import { SelfMetrics } from '#app/sinks/self-metrics.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('the service metrics', () => {
  const measuring = (revision = 'abc', level: MetricLevel = 'full') => {
    const self = new SelfMetrics([], level);
    const build = { version: '1.2.3', revision, node: '20.1.0' };
    const metrics = serviceMetrics(self, build, 1000);
    const shown = async (name: string) =>
      (await self.text([])).split('\n').filter((line) => line.startsWith(name));
    return { metrics, shown };
  };

  it('show the version, commit and Node.js version', async () => {
    const { shown } = measuring();
    expect(await shown('shm_exporter_build_info')).to.deep.equal([
      'shm_exporter_build_info{version="1.2.3",revision="abc",nodeversion="20.1.0"} 1',
    ]);
  });

  it('name each faulty file of targets.d until it is repaired', async () => {
    const { metrics, shown } = measuring();
    const series = (...files: readonly string[]) =>
      files.map((file) => `shm_exporter_target_file_faulty{file="targets.d/${file}"} 1`);
    expect(await shown('shm_exporter_target_file_faulty')).to.deep.equal([]);
    metrics.faultyTargetFiles(['targets.d/a', 'targets.d/b']);
    expect(await shown('shm_exporter_target_file_faulty')).to.deep.equal(series('a', 'b'));
    metrics.faultyTargetFiles(['targets.d/b']);
    expect(await shown('shm_exporter_target_file_faulty')).to.deep.equal(series('b'));
    metrics.faultyTargetFiles([]);
    expect(await shown('shm_exporter_target_file_faulty')).to.deep.equal([]);
  });

  it('name only the first faulty file of targets.d at the level basic', async () => {
    const { metrics, shown } = measuring('abc', 'basic');
    metrics.faultyTargetFiles(['targets.d/a', 'targets.d/b']);
    expect(await shown('shm_exporter_target_file_faulty')).to.deep.equal([
      'shm_exporter_target_file_faulty{file="targets.d/a"} 1',
    ]);
  });

  it('show the license expiry, and exactly one license state', async () => {
    const { metrics, shown } = measuring();
    const license = {
      ...{ id: 'l', licensee: 'A', keyId: 'k' },
      issuedAt: new Date(0),
      expiresAt: new Date(60_000),
    };
    for (const [at, state] of [
      [new Date(1000), 'valid'],
      [new Date(90_000), 'grace'],
      [new Date('1980-01-01'), 'expired'],
      [new Date(-1), 'early'],
    ] as const) {
      metrics.license(statusOf(license, at));
      expect(await shown('shm_exporter_license_expiry')).to.deep.equal([
        'shm_exporter_license_expiry_timestamp_seconds 60',
      ]);
      expect(await shown('shm_exporter_license_state')).to.deep.equal(
        LICENSE_STATES.map(
          (each) => `shm_exporter_license_state{state="${each}"} ${Number(each === state)}`,
        ),
      );
    }
  });

  it('show the success of the last reload, and the load time of the configuration in use', async () => {
    const { metrics, shown } = measuring();
    metrics.configAccepted(7, 1500);
    metrics.configRefused(2000);
    expect(await shown('shm_exporter_config')).to.deep.equal([
      'shm_exporter_config_last_reload_successful 0',
      'shm_exporter_config_last_reload_success_timestamp_seconds 1.5',
      'shm_exporter_config_hash 7',
    ]);
    metrics.configAccepted(8, 2500);
    expect(await shown('shm_exporter_config')).to.deep.equal([
      'shm_exporter_config_last_reload_successful 1',
      'shm_exporter_config_last_reload_success_timestamp_seconds 2.5',
      'shm_exporter_config_hash 8',
    ]);
  });
});

describe('the process section of the status page', () => {
  const build = { version: '1.2.3', revision: 'abc', node: '20.1.0' };
  const fresh = () => serviceMetrics(new SelfMetrics(), build, 1000);

  it('shows the build, start, license and configuration that the metrics show', () => {
    const metrics = fresh();
    const atStart = { ...build, startedMs: 1000, license: undefined };
    const configuration = { acceptedMs: 1000, refusedMs: undefined };
    expect(metrics.processInfo()).to.deep.equal({ ...atStart, configuration });
    metrics.configAccepted(7, 1500);
    metrics.configRefused(2000);
    expect(metrics.processInfo().configuration).to.deep.equal({
      acceptedMs: 1500,
      refusedMs: 2000,
    });
    metrics.configAccepted(8, 2500);
    expect(metrics.processInfo().configuration).to.deep.equal({
      acceptedMs: 2500,
      refusedMs: undefined,
    });
  });

  for (const [at, state, severity] of [
    [new Date(1000), 'valid', 'good'],
    [new Date(90_000), 'grace', 'warn'],
    [new Date('1980-01-01'), 'expired', 'bad'],
  ] as const)
    it(`shows the license state "${state}" with severity "${severity}" and with the expiry`, () => {
      const metrics = fresh();
      const license = { id: 'l', licensee: 'A', keyId: 'k' };
      const term = { issuedAt: new Date(0), expiresAt: new Date(60_000) };
      const status = statusOf({ ...license, ...term }, at);
      metrics.license(status);
      const { warning } = status;
      expect(metrics.processInfo().license).to.deep.equal({
        state,
        severity,
        expiresMs: 60_000,
        warning,
      });
    });
});

describe('the configuration hash', () => {
  const folder = temporaryFolder();
  let count = 0;
  const hash = (toml: string) =>
    configHash(loadConfig({ configFile: folder.write(`c${count++}.toml`, toml), overrides: {} }));

  it('depends neither on the order of the settings nor on the name of their file', () =>
    expect(hash('app = "adh"\ncontext_id = "a"\nlicense_file = "l"')).to.equal(
      hash('# the same\nlicense_file = "m"\ncontext_id = "a"\napp = "adh"'),
    ));

  for (const [what, toml] of [
    ['a setting', 'context_id = "other"'],
    ['a target', '[[targets]]\napp = "ads"\nserver_key = "1"'],
    ['a scope', '[[metric_scopes]]\nname = "a"\nmetrics = ["*"]'],
  ] as const)
    it(`changes with ${what}`, () => {
      expect(hash(toml)).not.to.equal(hash(''));
      expect(hash(toml)).to.be.within(0, 2 ** 48 - 1);
    });
});

// The process returns unused memory to the operating system.
const MB = 1_000_000;

describe('the exporter process', () => {
  it('frees memory once it has grown by 4 MB and is idle', () => {
    let bytes = 0;
    let returned = 0;
    const check = freePages(
      () => bytes,
      () => {
        returned++;
        bytes -= 2 * MB;
      },
    );
    const table = [
      [100 * MB, 0, 'the first size'],
      [105 * MB, 1, 'grown by less than a tenth'],
      [106 * MB, 1, 'hardly larger than after that'],
      [130 * MB, 1, 'grows'],
      [130 * MB, 2, 'at rest again'],
      [127 * MB, 2, 'smaller'],
    ] as const;
    for (const [size, expected, what] of table) {
      bytes = size;
      check();
      expect(returned, what).to.equal(expected);
    }
  });

  it('frees no memory while the size of the process cannot be read', () => {
    const check = freePages(
      () => {
        throw new Error('EMFILE: too many open files, uv_resident_set_memory');
      },
      () => expect.fail('no size, no search'),
    );
    expect(check).not.to.throw();
    expect(check).not.to.throw();
  });
});
