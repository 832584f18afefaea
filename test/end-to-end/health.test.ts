// Tests that `--healthy` checks the exporter that runs with the same arguments.
import { utimesSync } from 'node:fs';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { createServer as tlsServer } from 'node:tls';
import { hashSync } from 'bcryptjs';
import { expect } from 'chai';
import { NEVER } from 'rxjs';
import { loadConfig } from '#app/config/resolve.js';
import { Fault, messageOf } from '#app/errors.js';
import { healthProblem } from '#app/exporter/health.js';
import { listenAddresses } from '#app/exporter/listeners.js';
import { webGuard } from '#app/exporter/web-guard.js';
import { NO_GUARD } from '#app/sinks/http/http-server.js';
import { WatchedWebConfig } from '#app/web-config/watched-web-config.js';
import { tlsPath } from '../support/component-certificates.js';
import { FakeTarget } from '../support/fake-target.js';
import { freePort } from '../support/free-port.js';
import { needs } from '../support/needs.js';
import { waitFor, testPrograms } from '../support/processes.js';
import { freshServing } from '../support/serving-http.js';

describe('--healthy', function () {
  this.slow(3000);
  const programs = testPrograms();
  const tls = (more = '') =>
    programs.write(
      'web.yml',
      `tls_server_config:\n  cert_file: ${tlsPath('component.cert.pem')}\n  key_file: ${tlsPath('component.key.pem')}\n${more}`,
    );
  const ask = (path: string, ...args: readonly string[]) => {
    const { status, stdout, stderr } = programs.run(
      'exporter',
      ...['--config', path, '--healthy', ...args],
    );
    return { status, said: stdout + stderr };
  };
  const hasIpv6 = networkInterfaces()['lo']?.some(({ address }) => address === '::1') ?? false;
  const HEALTHY = { status: 0, said: 'healthy\n' };

  const listeners: readonly (readonly [name: string, (port: number) => object])[] = [
    ['on any port', (port) => ({ metrics_port: port })],
    ['on all addresses', (port) => ({ metrics_bind_address: '0.0.0.0', metrics_port: port })],
    [
      'on several addresses',
      (port) => ({ metrics_listen_addresses: [`127.0.0.1:${port}`, `127.0.0.2:${port}`] }),
    ],
    ['on IPv6', (port) => ({ metrics_listen_addresses: [`[::1]:${port}`] })],
    ['with TLS', (port) => ({ metrics_port: port, web_config_file: tls() })],
    [
      'with passwords',
      (port) => ({
        metrics_port: port,
        web_config_file: tls(`basic_auth_users:\n  alice: ${hashSync('secret', 4)}\n`),
      }),
    ],
    [
      'that requires a client certificate',
      (port) => ({
        metrics_port: port,
        web_config_file: tls(
          `  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ${tlsPath('client-ca.cert.pem')}\n`,
        ),
      }),
    ],
    [
      'that requires a client certificate in TLS 1.2',
      (port) => ({
        metrics_port: port,
        web_config_file: tls(
          `  max_version: TLS12\n  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ${tlsPath('client-ca.cert.pem')}\n`,
        ),
      }),
    ],
  ];
  const serve = freshServing();
  const configOf = (configFile: string) => loadConfig({ configFile, overrides: {} });
  /** Returns the problem that `--healthy` finds for a configuration file, without starting a process. */
  const problemOf = (configFile: string) => healthProblem(configOf(configFile), Date.now());

  for (const [name, settings] of listeners)
    it(`reports a listener ${name} as healthy, and as unhealthy once the exporter has ended`, async function () {
      needs(this, name !== 'on IPv6' || hasIpv6, 'this machine has no IPv6');
      const path = programs.config({ ...settings(await freePort()) });
      const { webConfigFile, ...config } = configOf(path).settings;
      const guard =
        webConfigFile === ''
          ? NO_GUARD
          : webGuard(
              new WatchedWebConfig(webConfigFile, Date.now, () => undefined),
              () => NEVER,
              Date.now,
              () => undefined,
            );
      const addresses = listenAddresses({ ...config, webConfigFile }, []);
      const serving = await serve([new FakeTarget()], { addresses, guard });
      expect(await problemOf(path)).to.equal('');
      serving.end();
      expect(await problemOf(path)).to.match(
        /^https?:\/\/(127\.0\.0\.1|\[::1\]):\d+\/-\/healthy does not answer: connect ECONNREFUSED/,
      );
    });

  it('reports as unhealthy an exporter that accepts connections and never answers', async () => {
    const silent = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => silent.once('listening', resolve));
    const address = silent.address();
    const port = typeof address === 'object' && address !== null ? address.port : 0;
    const problem = await problemOf(programs.config({ metrics_port: port }));
    silent.close();
    expect(problem).to.match(/\/-\/healthy does not answer within 3000 ms$/);
  });

  it('reports as unhealthy a listener that fails for every client', async () => {
    // The server has no certificate, so it shares no cipher with any client.
    const broken = tlsServer().listen(0, '127.0.0.1');
    await once(broken, 'listening');
    const { port } = broken.address() as AddressInfo;
    const found = await problemOf(programs.config({ metrics_port: port, web_config_file: tls() }));
    broken.close();
    expect(found).to.match(/\/-\/healthy does not answer: .*SSL alert number/);
  });

  it('accepts the same options as the exporter', async () => {
    const path = programs.config({ app: 'ads', server_keys: ['82'] });
    const port = `--metrics-port=${await freePort()}`;
    const exporter = programs.start('exporter', ['--config', path, port]);
    await exporter.line(/metrics at http/);
    expect(ask(path, port)).to.deep.equal(HEALTHY);
    await exporter.stop();
    expect(ask(path, port)).to.include({ status: 1 });
  });

  it('reports an exporter that writes a textfile as healthy while the file is recent', async () => {
    const path = programs.config({
      ...{ app: 'ads', server_keys: ['82'], metrics_http_enabled: false },
      ...{ textfile_dir: programs.path('.'), metrics_interval_seconds: 1 },
    });
    const file = programs.path('shm_exporter.prom');
    expect(await problemOf(path)).to.equal(
      `${file} cannot be read: ENOENT: no such file or directory, stat '${file}'`,
    );
    const exporter = programs.start('exporter', ['--config', path]);
    await waitFor('the file is there', async () =>
      (await problemOf(path)) === '' ? true : undefined,
    );
    await exporter.stop('SIGKILL');
    const old = Date.now() / 1000 - 100;
    utimesSync(file, old, old);
    expect(await problemOf(path)).to.match(
      /shm_exporter\.prom was last written 10\d s ago, but should be written every 1 s$/,
    );
  });

  it('reports an exporter that prints to stdout as healthy', async () =>
    expect(await problemOf(programs.config({ metrics_http_enabled: false }))).to.equal(''));

  it('refuses to check sockets of systemd, because only the .socket unit defines their addresses', async () => {
    const path = programs.config({ metrics_systemd_socket: true });
    const thrown = await problemOf(path).catch((error: unknown) => error);
    expect(thrown).to.be.instanceOf(Fault).and.include({ exit: 2 });
    expect(messageOf(thrown)).to.contain(
      'only the .socket unit defines where the exporter listens',
    );
  });

  it('reports mistakes in the configuration', () => {
    const { status, said } = ask(programs.config({ metrics_interval_seconds: 0 }));
    expect(status).to.equal(2);
    expect(said).to.contain('metrics_interval_seconds');
  });
});
