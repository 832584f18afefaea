// Tests several addresses, IPv6, and sockets that were opened before the start.
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { get } from 'node:http';
import type { IncomingMessage } from 'node:http';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'chai';
import { PROJECT, testPrograms } from '../support/processes.js';
import { readyPage, scrape } from './page.js';
import { needs, needsPrograms } from '../support/needs.js';

describe('the HTTP listener', function () {
  this.slow(3000);
  const programs = testPrograms();
  before(() => programs.simulate('--app', 'ads', '--server-key', '82', '--objects', '3'));
  const start = (settings: Readonly<Record<string, unknown>>, ...args: readonly string[]) => {
    const path = programs.config({ app: 'ads', server_keys: ['82'], ...settings });
    return programs.start('exporter', ['--config', path, ...args]);
  };
  const urls = (text: string) =>
    [...text.matchAll(/metrics at (http:\S+)/g)].map(([, url = '']) => url);

  it('can have several addresses, each with the same pages', async () => {
    const exporter = start({ metrics_listen_addresses: ['127.0.0.1:0', '127.0.0.2:0'] });
    await exporter.line(/metrics at[^]*metrics at/);
    const all = urls(exporter.stderr);
    expect(all.map((url) => new URL(url).hostname)).to.have.members(['127.0.0.1', '127.0.0.2']);
    for (const url of all) await readyPage(url);
    await exporter.stop();
  });

  it('can have an IPv6 address in brackets', async function () {
    needs(this, await hasIpv6(), 'this machine has no IPv6');
    const exporter = start(
      {},
      '--web.listen-address',
      '[::1]:0',
      '--web.listen-address=127.0.0.1:0',
    );
    await exporter.line(/metrics at[^]*metrics at/);
    const all = urls(exporter.stderr);
    expect(all.some((url) => url.startsWith('http://[::1]:'))).to.equal(true);
    for (const url of all) await readyPage(url);
    await exporter.stop();
  });

  it('can have a link-local address with a zone, and is healthy there', async function () {
    const setUp = 'ip link set lo up && ip address add fe80::1/64 dev lo';
    const probe = spawnSync('unshare', ['--net', 'sh', '-c', setUp]);
    needsPrograms(this, 'curl', 'nsenter');
    needs(this, probe.status === 0, 'this process may not make a network namespace with IPv6');
    const path = programs.config({
      ...{ app: 'ads', server_keys: ['82'] },
      metrics_listen_addresses: ['[fe80::1%lo]:9464', ':9465'],
    });
    const exporter = programs.start('exporter', ['--config', path], {
      under: ['unshare', '--net', 'sh', '-c', `${setUp} && exec "$@"`, 'sh'],
    });
    await exporter.line(/metrics at[^]*metrics at/);
    expect(urls(exporter.stderr)).to.include('http://[fe80::1%25lo]:9464/metrics');
    const inside = (...words: readonly string[]) =>
      spawnSync('nsenter', ['--net', '--target', String(exporter.pid), ...words], {
        encoding: 'utf8',
      });
    const targets = (host: string) =>
      inside('curl', '--silent', '--globoff', `http://${host}/-/targets`).stdout;
    expect(targets('[fe80::1%25lo]:9464')).to.contain('"targets":["[fe80::1%lo]:9464"]');
    expect(targets('[fe80::1%25lo]:9465')).to.contain('"targets":["[fe80::1%lo]:9465"]');
    expect(targets('[::1]:9465')).to.contain('"targets":["[::1]:9465"]');
    const program = join(PROJECT, 'dist/bin/shm_exporter.js');
    const health = inside(process.execPath, program, '--config', path, '--healthy');
    expect(health.stdout + health.stderr).to.equal('healthy\n');
    await exporter.stop();
  });

  it('ends the exporter with status 4, and names the address, if an address is in use', async () => {
    const taken = createServer().listen(0, '127.0.0.2');
    await new Promise((resolve) => taken.once('listening', resolve));
    const address = taken.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const exporter = start({ metrics_listen_addresses: ['127.0.0.1:0', `127.0.0.2:${port}`] });
    expect((await exporter.ended).status).to.equal(4);
    expect(exporter.stderr).to.contain(`Cannot listen on 127.0.0.2:${port}: `);
    taken.close();
  });

  /**
   * Starts an exporter, and passes a socket to it as systemd does: as descriptor 3, which the environment announces.
   */
  const withSocket = (opened: string) => {
    const path = programs.config({ app: 'ads', server_keys: ['82'], metrics_systemd_socket: true });
    const script =
      'import os, socket, sys\n' +
      `${opened}; s.listen()\n` +
      'os.dup2(s.fileno(), 3)\nos.set_inheritable(3, True)\n' +
      'os.environ.update(LISTEN_PID=str(os.getpid()), LISTEN_FDS="1")\n' +
      'os.execv(sys.argv[1], sys.argv[1:])\n';
    return programs.start('exporter', ['--config', path], { under: ['python3', '-c', script] });
  };

  it('can be a TCP socket that systemd opened', async () => {
    const exporter = withSocket('s = socket.socket(); s.bind(("127.0.0.1", 0))');
    const url = await exporter.url();
    await readyPage(url);
    expect((await scrape(url)).status).to.equal(200);
    await exporter.stop();
  });

  it('can be a UNIX socket that systemd opened, and the log mentions the UNIX socket', async () => {
    const path = programs.path('socket');
    const exporter = withSocket(
      `s = socket.socket(socket.AF_UNIX); s.bind(${JSON.stringify(path)})`,
    );
    await exporter.line(/ metrics at the UNIX socket of systemd, path \/metrics$/m);
    const [answer] = (await once(
      get({ socketPath: path, path: '/-/healthy', agent: false }),
      'response',
    )) as [IncomingMessage];
    expect(answer.resume().statusCode).to.equal(200);
    await exporter.stop();
  });
});

const hasIpv6 = (): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => {
      resolve(false);
    });
    server.listen(0, '::1', () => server.close(() => resolve(true)));
  });
