import { expect } from 'chai';
import { readFileSync, statSync } from 'node:fs';
import { execFileSync, spawnSync } from 'node:child_process';
import { connect, createServer } from 'node:net';
import type { AddressInfo, Server } from 'node:net';
import { once } from 'node:events';
import { join } from 'node:path';
import { needsPrograms } from '../support/needs.js';
import { freePort } from '../support/free-port.js';
import { PROJECT, delay, waitFor, testPrograms } from '../support/processes.js';
import { readyPage, scrape } from './page.js';

describe('shm_exporter', function () {
  this.slow(3000);
  const programs = testPrograms();
  const run = (...args: readonly string[]) => {
    const { status, stdout, stderr } = programs.run('exporter', ...args);
    return { status, stdout, stderr };
  };

  it('names the limit to raise if a partition gets no address space', async function () {
    needsPrograms(this, 'prlimit');
    const exporter = programs.start(
      'exporter',
      ['--config', programs.config({ server_keys: ['1'] })],
      {
        under: ['prlimit', `--as=${4 * 2 ** 30}`],
      },
    );
    await exporter.line(
      /partition 0 failed: Cannot reserve 10 GiB of address space for a partition .* raise ulimit -v/,
    );
    expect((await exporter.stop()).status).to.equal(0);
  });

  it('reports in one line, with status 1, that it cannot write the output of --check-config to a full stdout', async () => {
    const args = ['--check-config', '--config', programs.config({})];
    const exporter = programs.start('exporter', args, { stdoutTo: '/dev/full' });
    expect(await exporter.ended).to.deep.equal({ status: 1, signal: null });
    expect(exporter.stderr).to.equal(
      'shm_exporter: stdout cannot be written: no space left on the device\n',
    );
  });

  it('reports in one line, with status 4, that it cannot write the snapshot of --once to a full stdout', async () => {
    const path = programs.config({ metrics_interval_seconds: 1 });
    const args = ['--once', '--config', path];
    const exporter = programs.start('exporter', args, { stdoutTo: '/dev/full' });
    expect(await exporter.ended).to.deep.equal({ status: 4, signal: null });
    expect(exporter.stderr).to.match(
      /^(\S+ (info|warning) .*\n)*\S+ error stdout cannot be written: no space left on the device\n$/,
    );
  });

  it('reports a full stdout once, and prints complete snapshots again as soon as stdout has space', async function () {
    needsPrograms(this, 'prlimit');
    const settings = { metrics_http_enabled: false, metrics_interval_seconds: 1 };
    const out = programs.path('snapshots');
    const exporter = programs.start('exporter', ['--config', programs.config(settings)], {
      stdoutTo: out,
      under: ['prlimit', '--fsize=1000:unlimited'],
    });
    await exporter.line(
      / warning stdout cannot be written: the file would exceed its size limit: skipping snapshots$/m,
    );
    await waitFor('the file is full', () => statSync(out).size === 1000 || undefined);
    spawnSync('prlimit', [`--pid=${exporter.pid}`, '--fsize=unlimited:unlimited']);
    await waitFor(
      'another snapshot',
      () => /^[^]{1000}\n# snapshot .*\n# snapshot /.test(readFileSync(out, 'utf8')) || undefined,
    );
    expect(exporter.stderr.match(/cannot be written/g)).to.have.length(1);
    expect((await exporter.stop()).status).to.equal(0);
  });

  it('keeps serving and reloading while its log cannot be written', async () => {
    const port = await freePort();
    const path = programs.config({ metrics_port: port });
    const program = [process.execPath, join(PROJECT, 'dist/bin/shm_exporter.js'), '--config', path];
    const exporter = programs.command(['sh', '-c', 'exec "$0" "$@" 2>/dev/full', ...program]);
    const isUp = () =>
      fetch(`http://127.0.0.1:${port}/-/healthy`).then(
        ({ status }) => (status === 200 ? true : undefined),
        () => undefined,
      );
    await waitFor('it serves', isUp);
    exporter.signal('SIGHUP');
    await delay(300);
    expect(await isUp()).to.equal(true);
    expect(await exporter.stop()).to.deep.equal({ status: 0, signal: null });
  });

  it('reports in one line, with status 1, that the reader of stdout is gone', async () => {
    const words = ['bash', '-c', 'set -o pipefail; { sleep 0.5; "$0" "$1" --help; } | :'];
    const pipe = programs.command([
      ...words,
      process.execPath,
      join(PROJECT, 'dist/bin/shm_exporter.js'),
    ]);
    expect(await pipe.ended).to.deep.equal({ status: 1, signal: null });
    expect(pipe.stderr).to.equal(
      'shm_exporter: stdout cannot be written: its reader has closed it\n',
    );
  });

  it('reports a valid configuration with --check-config, and warns only of scopes and patterns that can select nothing', () => {
    const scope = (name: string, ...metrics: readonly string[]) =>
      `[[metric_scopes]]\nname = "${name}"\nmetrics = ${JSON.stringify(metrics)}\n`;
    const scopes = [
      scope('fine', 'adh_*', 'shm_exporter_target_info', 'mine_root_x', '*_num_clients'),
      scope('typed', 'shm_exporter_internal_target_redy'),
      scope('partly', 'ads_*', 'shm_exporter_target_info', 'atx_*'),
      scope('idle', 'ads_*', 'mine'),
    ].join('');
    const targets = ['adh', 'mine'].map(
      (app, index) => `[[targets]]\napp = "${app}"\nserver_key = "${index}"\n`,
    );
    const path = programs.config({}, `\n${targets.join('')}${scopes}`);
    const place = (text: string, offset = 0) => {
      const [before = ''] = readFileSync(path, 'utf8').split(text);
      const lines = before.split('\n');
      return `${path}:${lines.length - offset}:${offset > 0 ? 1 : (lines.at(-1)?.length ?? 0) + 1}`;
    };
    const { status, stdout, stderr } = run('--config', path, '--check-config');
    expect({ status, stderr, lines: stdout.trimEnd().split('\n') }).to.deep.equal({
      status: 0,
      stderr: '',
      lines: [
        `warning: ${place('name = "typed"', 1)}: metric scope "typed" selects nothing: no configured target has a metric that the scope names (did you mean "shm_exporter_internal_target_ready"?)`,
        `warning: ${place('"ads_*","shm_')}: no configured target has a metric that matches "ads_*" of metric scope "partly"`,
        `warning: ${place('"atx_*"')}: no configured target has a metric that matches "atx_*" of metric scope "partly"`,
        `warning: ${place('name = "idle"', 1)}: metric scope "idle" selects nothing: no configured target has a metric that the scope names`,
        'configuration is valid',
      ],
    });
  });

  it('rejects a pipe as --config or --targets-config immediately, in one line, with status 2', () => {
    const [config, targets] = [programs.path('config'), programs.path('targets')];
    execFileSync('mkfifo', [config, targets]);
    const files = ['--config', config, '--targets-config', targets];
    expect(run(...files, '--check-config', '--license-file', programs.license)).to.deep.equal({
      status: 2,
      stdout: '',
      stderr:
        `shm_exporter: ${config}: is a pipe, needed: a regular file\n` +
        `${targets}: is a pipe, needed: a regular file\n`,
    });
  });

  it('prints the warnings before the error, with status 3, if only the license is rejected', () => {
    const config = programs.config({ app: 'asd', license_file: '' });
    const { status, stdout, stderr } = run('--config', config, '--check-config');
    expect(status).to.equal(3);
    expect(stdout).to.match(/^warning: \S+ app \(--app\): asd has no catalogue [^\n]*\n$/);
    expect(stderr).to.match(
      /^shm_exporter: \S+:\d+:\d+: license_file \(--license-file\): No license file is configured; for evaluation: [^\n]*\n$/,
    );
  });

  it('reports all mistakes at once, those in the configuration before those in the license, with status 2', () => {
    const targets = '\n[[targets]]\napp = "ads"\nserver_key = "1"\nclasses = ["mont"]\n';
    const settings = { metrics_port: 'x', license_file: 'gone.json', target_workers: 65 };
    const config = programs.config({ ...settings, metrics_prt: 1, stdout_format: 'xml' }, targets);
    for (const more of [['--check-config'], []]) {
      const { status, stdout, stderr } = run('--config', config, ...more);
      expect({ status, stdout }).to.deep.equal({ status: 2, stdout: '' });
      const lines = stderr.trimEnd().split('\n');
      const expected = [
        /^shm_exporter: \S+:\d+:\d+: metrics_port \(--metrics-port\): found "x", allowed: /,
        /^\S+:\d+:\d+: target_workers: found 65, allowed: an integer from 0 to 64$/,
        /^\S+:\d+:\d+: metrics_prt: unknown key/,
        /^\S+:\d+:\d+: stdout_format \(--stdout-format\): found "xml"/,
        /^\S+:\d+:\d+: targets\[0\]\.classes\[0\]: found "mont" \(did you mean "mount"\?\), allowed for the application ads: .*\bprocess\b.*\bmount\b/,
        /^shm_exporter: \S+:\d+:\d+: license_file \(--license-file\): License file \S*gone\.json cannot be read: /,
      ];
      expect(lines).to.have.lengthOf(expected.length);
      expected.forEach((line, index) => expect(lines[index]).to.match(line));
    }
  });

  describe('with a configuration file', () => {
    const left = {
      id: 'h.1.left',
      class: 'Root',
      variables: { left: { type: 'u64', value: 1 } },
    };
    before(() => programs.publish({ server_key: '1', objects: [left] }));

    it('compares the file with the existing segments for --check-config --live', () => {
      const targets = '\n[[targets]]\napp = "left"\nserver_key = "1"\nseed_paths = ["floor"]\n';
      const config = programs.config({}, targets);
      const { status, stdout, stderr } = run('--config', config, '--check-config', '--live');
      expect({ status, stderr }).to.deep.equal({ status: 0, stderr: '' });
      // On a busy machine the publisher's heartbeat may be late, so `stalled` is allowed.
      expect(stdout).to.match(
        /^target left on 1:\n {2}server key 1: (live|stalled): [^\n]+\n {2}root h\.1\.left of server key 1\n/,
      );
      expect(stdout).to.match(
        /\n {2}warning: \S+: targets\[0\]\.seed_paths\[0\]: no object is at "floor"\n/,
      );
      expect(stdout).to.match(/\nconfiguration is valid\n$/);
    });

    it('answers a scope as text and as OpenMetrics, and 404 for an unknown scope (spec 2.3, 4.2), and ends with status 0 at SIGINT', async () => {
      const scope = '\n[[metric_scopes]]\nname = "few"\nmetrics = ["left_root_*"]\n';
      const config = programs.config({ app: 'left', server_keys: ['1'] }, scope);
      const exporter = programs.start('exporter', ['--config', config]);
      const url = await exporter.url();
      await readyPage(url);
      const head = '# HELP left_root_left Variable left of objects of class Root.\n';
      const line = 'left_root_left{object="@root"} 1\n';
      const text = await scrape(`${url}/few`);
      expect(text).to.deep.include({
        status: 200,
        body: `${head}# TYPE left_root_left untyped\n${line}`,
      });
      expect((await scrape(`${url}?scope=many`)).status).to.equal(404);
      const accept = 'application/openmetrics-text;version=1.0.0,text/plain;version=0.0.4;q=0.5';
      const response = await fetch(`${url}/few`, { headers: { accept, connection: 'close' } });
      expect(response.headers.get('content-type')).to.contain('application/openmetrics-text');
      expect(await response.text()).to.equal(
        `# TYPE left_root_left unknown\n${head}${line}# EOF\n`,
      );
      expect(await exporter.stop('SIGINT')).to.deep.equal({ status: 0, signal: null });
      expect(exporter.stderr).to.contain('SIGINT: ending');
    });
  });

  it('ends with status 4 when the port is in use', async () => {
    const taken: Server = createServer().listen(0, '127.0.0.1');
    await once(taken, 'listening');
    const { port } = taken.address() as AddressInfo;
    const exporter = programs.exporter({ metrics_port: port });
    expect(await exporter.ended).to.deep.equal({ status: 4, signal: null });
    expect(exporter.stderr).to.match(
      new RegExp(
        `^\\S+ error metrics_port \\(--metrics-port\\) and metrics_bind_address: Cannot listen on 127\\.0\\.0\\.1:${port}: .*EADDRINUSE.*; "ss -ltnp 'sport = :${port}'" shows which process uses it$`,
        'm',
      ),
    );
    taken.close();
  });

  describe('at SIGTERM', () => {
    // Long ids, so that a page does not fit into the buffers of both sockets.
    const child = (index: number) => ({
      ...{ id: `h.1.big.${index}.${'x'.repeat(900)}`, parent: 'h.1.big', class: 'Big' },
      variables: Object.fromEntries(
        ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [name, { type: 'u64', value: 1 }]),
      ),
    });
    before(() =>
      programs.publish({
        server_key: '2',
        objects: [
          { id: 'h.1.big', class: 'Root', variables: { root: { type: 'u64', value: 1 } } },
          ...Array.from({ length: 1200 }, (_, index) => child(index)),
        ],
      }),
    );

    it('ends with status 0 after the running scrape, and does not wait for idle connections', async () => {
      const exporter = programs.exporter({ app: 'big', server_keys: ['2'] });
      const url = new URL(await exporter.url());
      await readyPage(url.href);
      const socket = connect(Number(url.port), url.hostname);
      socket.write(`GET ${url.pathname} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      const [first] = (await once(socket, 'data')) as [Buffer];
      socket.pause();
      const chunks = [first];
      const idle = ['', 'GET /metrics HTTP/1.1\r\nHost: x\r\n'].map((sent) => {
        const each = connect(Number(url.port), url.hostname);
        each.write(sent);
        return each.on('error', () => undefined).resume();
      });
      await Promise.all(idle.map((each) => once(each, 'ready')));
      const idleEnd = Promise.all(
        idle.map((each) => new Promise((resolve) => each.once('close', resolve))),
      );
      exporter.signal('SIGTERM');
      await exporter.line(/SIGTERM: ending/);
      await idleEnd;
      expect(exporter.isOver, 'it waits for the reader').to.be.false;
      expect(await scrape(url.href).catch(() => 'refused')).to.equal('refused');
      socket.on('data', (chunk: Buffer) => chunks.push(chunk));
      socket.resume();
      await once(socket, 'end');
      const whole = Buffer.concat(chunks);
      const head = whole.subarray(0, whole.indexOf('\r\n\r\n') + 4);
      const [, length = ''] = /content-length: (\d+)/i.exec(head.toString('latin1')) ?? [];
      expect(whole.length - head.length).to.equal(Number(length));
      expect(whole.subarray(-200).toString()).to.match(/shm_exporter_target_info\{[^\n]*\} 1\n$/);
      expect(await exporter.ended).to.deep.equal({ status: 0, signal: null });
    });
  });
});

for (const program of ['bridge', 'dump', 'license', 'simulator'] as const)
  describe(`shm_${program}`, () => {
    const programs = testPrograms();

    it('reports in one line, with status 1, that it cannot write the output of --help to a full stdout', async () => {
      const running = programs.start(program, ['--help'], { stdoutTo: '/dev/full' });
      expect(await running.ended).to.deep.equal({ status: 1, signal: null });
      expect(running.stderr).to.equal(
        `shm_${program}: stdout cannot be written: no space left on the device\n`,
      );
    });
  });
