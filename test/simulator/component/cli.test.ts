import { expect } from 'chai';
import { FAULT_NAMES } from '#app/simulator/component/faults.js';
import { ODDITY_NAMES } from '#app/simulator/component/oddities.js';
import { tlsPath } from '../../support/component-certificates.js';
import { ask } from '../../support/component-client.js';
import { readComponent } from '../../support/component-reader.js';
import { freshComponents, treeOf } from '../../support/components.js';
import { meaningOf } from '../../support/meaning.js';
import { ODD_SCENARIO } from '../../support/odd-scenario.js';
import { delay, answerOf, theatre } from '../../support/processes.js';
import type { Running } from '../../support/processes.js';
import { needsPrograms } from '../../support/needs.js';

describe('shm_simulator --json-port', function () {
  this.slow(2000);
  const stage = theatre();
  const serve = freshComponents();
  const urlOf = async (running: Running): Promise<string> => {
    const [, url = ''] = await running.line(/^serving (https?:\/\/127\.0\.0\.1:\S+)\nready$/m);
    return url;
  };
  const start = (args: readonly string[], stdin: 'pipe' | 'ignore' = 'ignore') =>
    stage.start('simulator', ['--json-port', '0', ...args], { stdin });
  const scenario = (more: object = {}) =>
    stage.write(`${Math.random()}.json`, JSON.stringify({ ...ODD_SCENARIO, ...more }));
  const read = async (url: string) => readComponent((await ask(`${url}/sharedmem`)).text);

  it('serves a scenario, makes no segment and ends with status 0', async () => {
    const running = start(['--context-id', stage.contextId, '--scenario', scenario()]);
    const url = await urlOf(running);
    expect(await read(url)).to.deep.equal(meaningOf(treeOf(ODD_SCENARIO)));
    expect(stage.segments()).to.deep.equal([]);
    expect(await running.stop()).to.deep.equal({ status: 0, signal: null });
    expect(running.stdout).to.equal('');
  });

  it('serves a tree of an application whose values change and whose process stays the same', async () => {
    const root = 'h.1.ads';
    const running = start(['--app', 'ads', '--root', root, '--objects', '40', '--rate', '200']);
    const url = await urlOf(running);
    const first = await read(url);
    const changed = await answerOf('a value changes', async () => {
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
    const { status, text } = await ask(`${url}/sharedmem/print/process`);
    expect([status, (JSON.parse(text) as unknown[]).length]).to.deep.equal([200, 1]);
  });

  /** All values, bigints as text. */
  const entries = (objects: Awaited<ReturnType<typeof read>>): unknown =>
    [...objects].map(([id, { variables }]) => [
      id,
      [...variables].map(([name, { value }]) => [name, String(value)]),
    ]);

  it('plays steps, and ends where they say so', async () => {
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

  it('has a base, a key, a certificate and oddities when told so', async () => {
    const running = start([
      ...['--scenario', scenario(), '--json-base', '/rtds/adh', '--security-key', 'open sesame'],
      ...['--tls-cert', tlsPath('component.cert.pem'), '--tls-key', tlsPath('component.key.pem')],
      '--oddities',
    ]);
    const url = await urlOf(running);
    expect(url).to.match(/^https:.*\/rtds\/adh$/);
    expect((await ask(`${url}/sharedmem`)).status).to.equal(401);
    const headers = { 'Security-Key': 'open sesame' };
    const { text } = await ask(`${url}/sharedmem`, { headers });
    const twin = await serve({ oddities: ODDITY_NAMES });
    expect(text).to.equal((await ask(`${twin.url}/sharedmem`)).text);
  });

  it('has some oddities when told which', async () => {
    const running = start(['--scenario', scenario(), '--oddities', 'wrapped,twins']);
    const { text } = await ask(`${await urlOf(running)}/sharedmem`);
    const twin = await serve({ oddities: ['twins', 'wrapped'] });
    expect(text).to.equal((await ask(`${twin.url}/sharedmem`)).text);
  });

  it('has a fault from the start, and changes it as stdin says', async () => {
    const running = start(['--fault', 'server_error'], 'pipe');
    const url = `${await urlOf(running)}/sharedmem`;
    expect((await ask(url)).status).to.equal(500);
    running.type('fault none');
    await running.line(/^fault none$/m);
    expect((await ask(url)).status).to.equal(200);
    running.type('  fault   refuse ');
    await running.line(/^fault refuse$/m);
    expect((await ask(url)).error).to.equal('ECONNREFUSED');
    running.type('fault cut');
    await running.line(/^fault cut$/m);
    expect(await ask(url)).to.include({ status: 200, error: 'ECONNRESET' });
    running.hush();
    await running.line(/^fault cut$/m);
    expect((await ask(url)).status).to.equal(200);
    expect(await running.stop()).to.deep.equal({ status: 0, signal: null });
  });

  describe('with stdin open', () => {
    let running: Running;
    let url = '';
    const lists = () => running.stderr.match(/^shm_simulator: allowed: "fault NAME".*$/gm) ?? [];
    before(async () => {
      running = start([], 'pipe');
      url = await urlOf(running);
    });

    for (const line of ['fault nonsense', ''])
      it(`answers the line ${JSON.stringify(line)} with the list of faults`, async () => {
        const known = lists().length;
        running.type(line);
        const told = await answerOf('a list', () => lists()[known]);
        for (const name of [...FAULT_NAMES, 'none']) expect(told).to.include(name);
        expect((await ask(`${url}/sharedmem`)).status).to.equal(200);
      });
  });

  for (const [what, redirection] of [
    ['closed', '<&-'],
    ['a folder', '</'],
  ] as const)
    it(`does not mind a stdin that is ${what}`, async () => {
      const script = `exec "$0" dist/simulator/cli.js --json-port 0 ${redirection}`;
      const url = await urlOf(stage.command(['sh', '-c', script, process.execPath]));
      expect((await ask(`${url}/sharedmem`)).status).to.equal(200);
    });

  it('is not stopped in the background of a terminal', async function () {
    needsPrograms(this, 'script');
    // A shell with job control, and somebody who types meanwhile; it ends by itself at the latest.
    const file = scenario({ steps: [{ after_ms: 15_000, exit: 'clean' }] });
    const simulator = `"${process.execPath}" dist/simulator/cli.js --json-port 0 --scenario ${file}`;
    const job = `set -m; ${simulator} & echo "pid $!"; sleep 15`;
    const terminal = ['script', '-qec', `bash -c '${job}'`, '/dev/null'];
    const running = stage.command(terminal, { stdin: 'pipe' });
    const match = (pattern: RegExp) =>
      answerOf(`it prints ${pattern.source}`, () => pattern.exec(running.stdout)?.[1]);
    const pid = Number(await match(/pid (\d+)/));
    try {
      const url = await match(/serving (http:\S+)\s+ready/);
      for (let line = 0; line < 3; line++) {
        running.type('fault cut');
        await delay(50);
      }
      const seen = await ask(`${url}/sharedmem`, { patienceMs: 10_000 });
      expect([seen.status, seen.error]).to.deep.equal([200, undefined]);
    } finally {
      process.kill(pid, 'SIGKILL');
    }
  });

  const files = [
    '--tls-cert',
    tlsPath('component.cert.pem'),
    '--tls-key',
    tlsPath('other.key.pem'),
  ];
  const refused: readonly (readonly [readonly string[], RegExp])[] = [
    [['--json-port', 'x'], /--json-port: found "x", allowed: an integer from 0 to 65535/],
    [
      ['--json-port', '0', '--json-base', 'rtds'],
      /--json-base: found .*, allowed: a path such as \/rtds/,
    ],
    [
      ['--json-port', '0', '--security-key', 'ä'],
      /--security-key: found "ä", allowed: ASCII characters/,
    ],
    [
      ['--json-port', '0', '--fault', 'nonsense'],
      /--fault: found "nonsense", allowed: "refuse" or "reset" .* or "none"/,
    ],
    [
      ['--json-port', '0', '--oddities', 'twins,x'],
      /--oddities\[1\]: found "x", allowed: "twins" or "duplicates" or .*"spelling"/,
    ],
    [['--json-port', '0', '--tls-cert', 'a.pem'], /--tls-cert and --tls-key need each other/],
    [
      ['--json-port', '0', '--tls-cert', '/none.pem', '--tls-key', '/none.pem'],
      /option --tls-cert: cannot read \/none\.pem: ENOENT/,
    ],
    [['--json-port', '0', ...files], /The certificate and its key cannot be used: /],
    [['--server-key', '1', '--fault', 'cut'], /: --fault needs --json-port/],
    [[], /: --server-key: found nothing, needed: --server-key <key>/],
  ];
  for (const [args, message] of refused)
    it(`refuses ${args.join(' ').replaceAll(tlsPath(''), '') || 'no options'}`, () => {
      const { status, stderr } = stage.run('simulator', ...args);
      expect(status).to.equal(2);
      expect(stderr).to.match(message);
    });

  it('ends with status 4 when the port is taken', async () => {
    const { url } = await serve();
    const { status, stderr } = stage.run('simulator', '--json-port', new URL(url).port);
    expect(status).to.equal(4);
    expect(stderr).to.match(/^shm_simulator: Cannot listen on 127\.0\.0\.1:\d+: .*EADDRINUSE/);
  });
});
