import { expect } from 'chai';
import { parseOptions } from '#app/simulator/options.js';
import { tlsPath } from '../../support/component-certificates.js';
import { ask } from '../../support/component-client.js';
import { readComponent } from '../../support/component-reader.js';
import { freshComponents, treeOf } from '../../support/component/components.js';
import { expectedObjects } from '../../support/expected-objects.js';
import { faultMessage } from '../../support/fault-message.js';
import { ODD_SCENARIO } from '../../support/odd-scenario.js';
import { waitFor, testPrograms } from '../../support/processes.js';
import type { Running } from '../../support/processes.js';

describe('shm_simulator as a component', function () {
  this.slow(2000);
  const programs = testPrograms();
  const serve = freshComponents();
  const urlOf = async (running: Running): Promise<string> => {
    const [, url = ''] = await running.line(/^serving (https?:\/\/127\.0\.0\.1:\S+)\nready$/m);
    return url;
  };
  const start = (args: readonly string[]) =>
    programs.start('simulator', ['--json-port', '0', ...args]);
  const scenario = (more: object = {}) =>
    programs.write(`${Math.random()}.json`, JSON.stringify({ ...ODD_SCENARIO, ...more }));
  const read = async (url: string) => readComponent((await ask(`${url}/sharedmem`)).text);

  it('serves a scenario without a segment, and exits with status 0 at SIGTERM', async () => {
    const running = start(['--context-id', programs.contextId, '--scenario', scenario()]);
    const url = await urlOf(running);
    expect(await read(url)).to.deep.equal(expectedObjects(treeOf(ODD_SCENARIO)));
    expect(programs.segments()).to.deep.equal([]);
    expect(await running.stop()).to.deep.equal({ status: 0, signal: null });
    expect(running.stdout).to.equal('');
  });

  it('serves the tree of an application with changing values and a constant process id', async () => {
    const root = 'h.1.ads';
    const running = start(['--app', 'ads', '--root', root, '--objects', '40', '--rate', '200']);
    const url = await urlOf(running);
    const first = await read(url);
    const changed = await waitFor('a value changes', async () => {
      const now = await read(url);
      return JSON.stringify(entries(now)) === JSON.stringify(entries(first)) ? undefined : now;
    });
    for (const objects of [first, changed]) {
      const variables = objects.get(root)?.variables;
      expect(variables?.get('processID')?.value).to.equal(BigInt(running.pid));
      expect(variables?.get('time')?.value).to.match(/^\w{3} \w{3} [ \d]\d \d\d:\d\d:\d\d \d{4}$/);
    }
    expect(first.get(root)?.variables.get('time')).to.deep.equal(
      changed.get(root)?.variables.get('time'),
    );
  });

  /** Returns all values, with bigints as text. */
  const entries = (objects: Awaited<ReturnType<typeof read>>): unknown =>
    [...objects].map(([id, { variables }]) => [
      id,
      [...variables].map(([name, { value }]) => [name, String(value)]),
    ]);

  it('runs the steps of a scenario, and ends at its exit step', async () => {
    const [root = ''] = ODD_SCENARIO.objects.map(({ id }) => id);
    const steps = [
      { after_ms: 0, set: { [`${root}.numbers`]: { zero: 1 } } },
      { after_ms: 3000, exit: 'clean' },
    ];
    const clean = start(['--scenario', scenario({ steps })]);
    const url = await urlOf(clean);
    const zero = (await read(url)).get(`${root}.numbers`)?.variables.get('zero')?.value;
    expect([0n, 1n]).to.include(zero);
    expect(await clean.ended).to.deep.equal({ status: 0, signal: null });
    const killed = start(['--scenario', scenario({ steps: [{ after_ms: 0, exit: 'kill' }] })]);
    expect(await killed.ended).to.deep.equal({ status: null, signal: 'SIGKILL' });
    const wrong = { after_ms: 0, remove: ['nobody'] };
    const failed = start(['--scenario', scenario({ steps: [wrong] })]);
    expect(await failed.ended).to.deep.equal({ status: 2, signal: null });
    expect(failed.stderr).to.match(/^shm_simulator: There is no object nobody$/m);
  });

  it('uses the base path, key and certificate that its options state', async () => {
    const running = start([
      ...['--scenario', scenario(), '--json-base', '/rtds/adh', '--security-key', 'open sesame'],
      ...['--tls-cert', tlsPath('component.cert.pem'), '--tls-key', tlsPath('component.key.pem')],
    ]);
    const url = await urlOf(running);
    expect(url).to.match(/^https:.*\/rtds\/adh$/);
    expect((await ask(`${url}/sharedmem`)).status).to.equal(401);
    const headers = { 'Security-Key': 'open sesame' };
    const { text } = await ask(`${url}/sharedmem`, { headers });
    expect(readComponent(text)).to.deep.equal(expectedObjects(treeOf(ODD_SCENARIO)));
  });

  const refused: readonly (readonly [string, readonly string[], string])[] = [
    [
      'a port that is not a number',
      ['--json-port', 'x'],
      '--json-port: found "x", allowed: an integer from 0 to 65535',
    ],
    [
      'a base path without a slash',
      ['--json-port', '0', '--json-base', 'rtds'],
      '--json-base: found "rtds", allowed: a path such as /rtds, without a slash at its end',
    ],
    [
      'a key with a letter outside ASCII',
      ['--json-port', '0', '--security-key', 'ä'],
      '--security-key: found "ä", allowed: ASCII characters that a header may contain, without a blank at either end',
    ],
    [
      '--tls-cert without --tls-key',
      ['--json-port', '0', '--tls-cert', 'a.pem'],
      '--tls-cert and --tls-key must be given together',
    ],
    [
      '--json-base without --json-port',
      ['--server-key', '1', '--json-base', '/x'],
      '--json-base needs --json-port',
    ],
    ['an empty command line', [], '--server-key: found nothing, needed: --server-key <key>'],
  ];
  for (const [what, args, message] of refused)
    it(`rejects ${what}`, () =>
      expect(faultMessage('USAGE', () => parseOptions(args, ''))).to.equal(message));

  const unusable: readonly (readonly [string, string, RegExp])[] = [
    [
      'a missing certificate file',
      '/none.pem',
      /option --tls-cert: cannot read \/none\.pem: ENOENT/,
    ],
    [
      'a certificate that belongs to another key',
      tlsPath('component.cert.pem'),
      /The certificate and its key cannot be used: /,
    ],
  ];
  for (const [what, cert, message] of unusable)
    it(`rejects ${what} with status 2`, () => {
      const files = ['--tls-cert', cert, '--tls-key', tlsPath('other.key.pem')];
      const { status, stderr } = programs.run('simulator', '--json-port', '0', ...files);
      expect(status).to.equal(2);
      expect(stderr).to.match(message);
    });

  it('exits with status 4 if the port is in use', async () => {
    const { url } = await serve();
    const { status, stderr } = programs.run('simulator', '--json-port', new URL(url).port);
    expect(status).to.equal(4);
    expect(stderr).to.match(/^shm_simulator: Cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE/);
  });
});
