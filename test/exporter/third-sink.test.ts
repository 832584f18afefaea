// Tests that a new kind of sink needs only its own file and one table row, and no change of the service.
import { existsSync, readFileSync } from 'node:fs';
import { expect } from 'chai';
import { EMPTY } from 'rxjs';
import type { Subscription } from 'rxjs';
import { loadConfig } from '#app/config/resolve.js';
import { planTargets } from '#app/exporter/plan.js';
import { service } from '#app/exporter/service.js';
import { SINKS } from '#app/exporter/sinks.js';
import type { SinkRow } from '#app/exporter/sinks.js';
import { TEXT } from '#app/exposition/page/text-page.js';
import { readLicense } from '#app/license/license-watch.js';
import type { TargetEvent } from '#app/model.js';
import { posixMemory } from '#app/native/os/posix.js';
import { SelfMetrics } from '#app/sinks/self-metrics.js';
import { ServiceManager } from '#app/systemd/service-manager.js';
import { signedLicense } from '../license/signed-license.js';
import { eventually } from '../support/eventually.js';
import { fileSink } from '../support/file-sink.js';
import { follow } from '../support/follow.js';
import { Publishers } from '../support/publishers.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('a third sink', () => {
  const folder = temporaryFolder();
  const publishers = new Publishers();
  let running: Subscription | undefined;
  afterEach(() => {
    running?.unsubscribe();
    publishers.closeAll();
  });

  it('needs only a function, a row in the table of sinks, and a value of a setting', async () => {
    const path = folder.path('snapshots');
    let metrics = new SelfMetrics();
    const row: SinkRow = {
      isChosen: ({ metricsPath }) => metricsPath === '/file',
      make: ({ selfMetrics }) => {
        metrics = selfMetrics;
        return fileSink({ path, format: TEXT, everyMs: 20, selfMetrics });
      },
    };
    publishers.withRoot('82', 'H.1.demo');
    const log: TargetEvent[] = [];
    const license = folder.write(
      'license.json',
      signedLicense({ issued_at: '2026-01-01T00:00:00Z', expires_at: '2026-01-31T00:00:00Z' }),
    );
    const configFile = folder.write(
      'c.toml',
      `app = "demo"\nserver_keys = ["82"]\ninstance = "H.1.demo"\ncontext_id = "${publishers.contextId}"\n` +
        `license_file = "${license}"\nmetrics_path = "/file"\n`,
    );
    const config = loadConfig({ configFile, overrides: {} });
    const around = {
      build: { version: '1.2.3', revision: '', node: '' },
      sockets: [],
      isOnce: false,
      manager: new ServiceManager({
        ...{ environment: {}, pid: 0, monotonicUs: () => 0n },
        send: () => 0,
        warn: () => undefined,
      }),
      reload: () => ({ kind: 'accepted' as const, notApplied: [] }),
      memory: posixMemory,
      unixMs: () => 0,
      stdout: () => () => EMPTY,
      log: (event: TargetEvent) => log.push(event),
    };
    ({ subscription: running } = follow(
      service(
        { config, plan: planTargets(config), leftOut: new Map(), warnings: [] },
        readLicense(license, new Date('2026-01-02T00:00:00Z')),
        around,
        EMPTY,
        [row, ...SINKS],
      ),
    ));
    const text = () => (existsSync(path) ? readFileSync(path, 'utf8') : '');
    await eventually('two snapshots', () => text().split('target_info{').length > 2);
    expect(text()).to.contain('root="H.1.demo"');
    expect(log.map(({ message }) => message)).to.include(`metrics at ${path}`);
    const shown = await metrics.text([]);
    expect(shown).to.match(/\nshm_exporter_file_bytes_total [1-9]\d+\n/);
    expect(shown, 'what only HTTP counts').not.to.contain('shm_exporter_http');
  });
});
