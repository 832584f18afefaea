// Tests the page about the programs: its commands, and each exit status in its table.
import { expect } from 'chai';
import { FAULTS } from '#app/errors.js';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { mkdirSync, readFileSync } from 'node:fs';
import { readsPage } from '../support/page-reader.js';
import { testPrograms } from '../support/processes.js';
import type { Program } from '../support/processes.js';
import { freePort } from '../support/free-port.js';
import { otherKeys } from './page-words.js';

readsPage('docs/programs.md', {
  folder: 'empty',
  words: () => {
    const { shop: key = '' } = otherKeys('shop');
    return Promise.resolve({ '--server-key shop': `--server-key ${key}` });
  },
  stays: { '$ shm_simulator --scenario': /ready/ },
});

describe('the exit statuses of docs/programs.md', function () {
  this.timeout(60_000).slow(2000);
  const programs = testPrograms();
  const page = readFileSync('docs/programs.md', 'utf8');
  const rows = [...page.matchAll(/^\| (\d+) \| (.*) \| .* \|$/gm)];
  const shown = rows.flatMap(([, status = '', names = '']) =>
    [...names.matchAll(/`shm_(\w+)`/g)].map(([, name = '']) => `${name} ${status}`),
  );

  /**
   * A command line for each exit status, except the status of unexpected failures and those that tests of the bridge
   * cover.
   */
  const COMMANDS: Readonly<Record<string, () => Promise<readonly string[]> | readonly string[]>> = {
    'exporter 0': () => ['--check-config', '--config', programs.config()],
    'exporter 1': async () => {
      const settings = { metrics_port: await freePort() };
      return ['--healthy', '--config', programs.config(settings)];
    },
    'exporter 2': () => ['--no-such-option'],
    'exporter 3': () => ['--license-file', programs.write('bad.json', '{}')],
    'exporter 4': () => ['--config', programs.config({ metrics_port: takenPort })],
    'exporter 5': () => {
      const settings = { metrics_interval_seconds: 1, metrics_http_enabled: false };
      return ['--once', '--config', programs.config(settings)];
    },
    'exporter 6': () => ['--license-file', programs.issue('early.json', 1, 2)],
    'exporter 7': () => {
      mkdirSync(programs.path('faulty/targets.d'), { recursive: true });
      programs.write('faulty/targets.d/shop.toml', 'clases = []');
      const config = readFileSync(programs.config(), 'utf8');
      return ['--check-config', '--config', programs.write('faulty/exporter.toml', config)];
    },
    'bridge 0': () => ['--version'],
    'bridge 1': async () => ['--once', '--config', componentAt(await freePort())],
    'bridge 2': () => ['--config', programs.path('missing.toml')],
    'dump 0': () => ['--version'],
    'dump 2': () => [],
    'dump 4': () => ['--server-key', 'none', '--context-id', programs.contextId],
    'license 0': () => ['verify', programs.license],
    'license 2': () => ['show'],
    'license 3': () => ['verify', programs.write('bad.json', '{}')],
    'license 6': () => ['verify', programs.issue('early.json', 1, 2)],
    'simulator 0': () => ['--version'],
    'simulator 2': () => ['--scenario', programs.path('missing.json')],
    'simulator 4': () => ['--json-port', String(takenPort)],
  };
  const ELSEWHERE = ['bridge 4'];
  const UNEXPECTED = ['dump 1', 'license 1', 'simulator 1'];

  const listener = createServer();
  let takenPort = 0;
  before(async () => {
    listener.listen(0, '127.0.0.1');
    await once(listener, 'listening');
    takenPort = (listener.address() as AddressInfo).port;
  });
  after(() => listener.close());

  const componentAt = (port: number): string =>
    programs.write(
      'bridge.toml',
      `[[components]]\nname = "a"\nurl = "http://127.0.0.1:${port}"\nserver_key = "a"\n`,
    );

  it('include 0, 1, the status of every fault, and 7', () => {
    const statuses = new Set(rows.map(([, status]) => Number(status)));
    expect([...statuses]).to.deep.equal([0, 1, 2, 3, 4, 5, 6, 7]);
    for (const [fault, { exit }] of Object.entries(FAULTS))
      expect(statuses.has(exit), fault).to.equal(true);
  });

  it('are each caused by a command of this test, or are in its list of exceptions', () =>
    expect([...Object.keys(COMMANDS), ...ELSEWHERE, ...UNEXPECTED]).to.have.members(shown));

  for (const [name, argumentsOf] of Object.entries(COMMANDS))
    it(`include the status of a real run: "shm_${name}"`, async () => {
      const [program, status] = name.split(' ');
      const ended = programs.run(program as Program, ...(await argumentsOf()));
      expect(ended.status, ended.stderr).to.equal(Number(status));
    });
});
