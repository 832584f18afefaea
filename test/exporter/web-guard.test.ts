// Tests which clients a listener with a web configuration admits. The listener runs in this process.
import { expect } from 'chai';
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import type { RequestOptions } from 'node:https';
import type { Socket } from 'node:net';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { NEVER } from 'rxjs';
import { webGuard } from '#app/exporter/web-guard.js';
import { HANDSHAKE_ERRORS } from '#app/sinks/http/tls.js';
import type { HandshakeError } from '#app/sinks/http/tls.js';
import type { HttpOptions } from '#app/sinks/http/http.js';
import { SelfMetrics } from '#app/sinks/self-metrics.js';
import { WatchedWebConfig } from '#app/web-config/watched-web-config.js';
import { tlsPath } from '../support/component-certificates.js';
import { eventually } from '../support/eventually.js';
import { FakeTarget } from '../support/fake-target.js';
import { needsPrograms } from '../support/needs.js';
import { PROJECT } from '../support/processes.js';
import { freshServing } from '../support/serving-http.js';
import type { ServingHttp } from '../support/serving-http.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('a listener with a web configuration', () => {
  const folder = temporaryFolder();
  const serving = freshServing();
  const serve = (yaml: string, options: Partial<HttpOptions> = {}) => {
    const config = new WatchedWebConfig(folder.write('web.yml', yaml), Date.now, () => undefined);
    const guard = webGuard(
      config,
      () => NEVER,
      Date.now,
      () => undefined,
    );
    return serving([new FakeTarget()], { guard, ...options });
  };
  const pem = (name: string) => readFileSync(tlsPath(`${name}.pem`), 'utf8');
  const SERVER = `tls_server_config:\n  cert_file: ${tlsPath('component.cert.pem')}\n  key_file: ${tlsPath('component.key.pem')}\n`;
  const AUTHORITY = `  client_ca_file: ${tlsPath('client-ca.cert.pem')}\n`;
  const client = { cert: pem('client.cert'), key: pem('client.key') };
  const stranger = { cert: pem('other.cert'), key: pem('other.key') };

  /** Whether a client gets a page. */
  const isLetIn = (origin: string, options: RequestOptions = {}) =>
    new Promise<boolean>((resolve) => {
      const all = { rejectUnauthorized: false, agent: false, ...options };
      const sent = request(`${origin}/metrics`, all, (response) => {
        response.resume().on('end', () => {
          resolve(response.statusCode === 200);
        });
      });
      sent.on('error', () => {
        resolve(false);
      });
      sent.end();
    });

  for (const [type, known, strange, none] of [
    ['NoClientCert', true, true, true],
    ['RequestClientCert', true, true, true],
    ['RequireAnyClientCert', true, true, false],
    ['VerifyClientCertIfGiven', true, false, true],
    ['RequireAndVerifyClientCert', true, false, false],
  ] as const)
    it(`admits the clients that client_auth_type ${type} allows`, async () => {
      const authority = type.includes('Verify') ? AUTHORITY : '';
      const { origin } = await serve(`${SERVER}  client_auth_type: ${type}\n${authority}`);
      expect([
        await isLetIn(origin, client),
        await isLetIn(origin, stranger),
        await isLetIn(origin),
      ]).to.deep.equal([known, strange, none]);
    });

  for (const [names, isAllowed] of [
    ['[other.example, prometheus.example.com]', true],
    ['[192.0.2.7]', true],
    ['[example.com]', false],
  ] as const)
    it(`${isAllowed ? 'admits' : 'refuses'} a client with the SANs prometheus.example.com and 192.0.2.7 if client_allowed_sans is ${names}`, async () => {
      const verified = `  client_auth_type: RequireAndVerifyClientCert\n${AUTHORITY}`;
      const { origin } = await serve(`${SERVER}${verified}  client_allowed_sans: ${names}\n`);
      expect(await isLetIn(origin, client)).to.equal(isAllowed);
    });

  it('accepts only the configured versions of TLS', async () => {
    const { origin } = await serve(`${SERVER}  min_version: TLS13\n`);
    expect(await isLetIn(origin, { minVersion: 'TLSv1.3' })).to.equal(true);
    expect(await isLetIn(origin, { maxVersion: 'TLSv1.2' })).to.equal(false);
  });

  it('answers 429 to requests above rate_limit', async () => {
    const http = await serve('rate_limit:\n  interval: 1h\n  burst: 3\n');
    const statuses: number[] = [];
    for (let each = 0; each < 5; each++) statuses.push((await http.ask('/metrics')).status);
    expect(statuses).to.deep.equal([200, 200, 200, 429, 429]);
  });

  describe('counts and reports a failed handshake', () => {
    const verifying = `${SERVER}  client_auth_type: RequireAndVerifyClientCert\n${AUTHORITY}`;
    const HELLO = '\x16\x03\x01';
    const named = `${verifying}  client_allowed_sans: [a.example]\n`;
    const sent = async (http: ServingHttp, bytes: string) => {
      const { socket, text } = http.send(bytes);
      await closed(socket);
      return text();
    };
    const table: readonly (readonly [
      what: string,
      reason: HandshakeError,
      yaml: string,
      connect: (http: ServingHttp) => Promise<unknown>,
    ])[] = [
      ['without a certificate', 'no_certificate', verifying, ({ origin }) => isLetIn(origin)],
      [
        'without a certificate, although any authority is accepted',
        'no_certificate',
        `${SERVER}  client_auth_type: RequireAnyClientCert\n`,
        ({ origin }) => isLetIn(origin),
      ],
      [
        'with a certificate of an unknown authority',
        'untrusted_certificate',
        verifying,
        ({ origin }) => isLetIn(origin, stranger),
      ],
      [
        'with an optional certificate of an unknown authority',
        'untrusted_certificate',
        verifying.replace('RequireAndVerifyClientCert', 'VerifyClientCertIfGiven'),
        ({ origin }) => isLetIn(origin, stranger),
      ],
      [
        'without an allowed name',
        'name_not_allowed',
        named,
        ({ origin }) => isLetIn(origin, client),
      ],
      [
        'with another version of TLS',
        'protocol',
        `${SERVER}  min_version: TLS13\n`,
        ({ origin }) => isLetIn(origin, { maxVersion: 'TLSv1.2' }),
      ],
      ['that speaks another protocol', 'protocol', SERVER, (http) => sent(http, 'SSH-2.0-x\r\n')],
      [
        'that rejects the certificate of the server',
        'rejected_by_client',
        SERVER,
        ({ origin }) => promisify(execFile)('curl', ['-s', origin]).catch(() => undefined),
      ],
      ['that is too slow', 'timeout', SERVER, (http) => sent(http, HELLO)],
      [
        'that disconnects early',
        'disconnected',
        SERVER,
        async (http) => {
          const { socket } = http.send(HELLO);
          await once(socket, 'connect');
          socket.end();
          await closed(socket);
        },
      ],
    ];
    for (const [what, reason, yaml, connect] of table)
      it(`of a client ${what}, as ${reason}`, async function () {
        if (reason === 'rejected_by_client') needsPrograms(this, 'curl');
        const selfMetrics = new SelfMetrics();
        const http = await serve(yaml, {
          selfMetrics,
          headerMs: reason === 'timeout' ? 500 : 30_000,
        });
        await connect(http);
        const refused = () => http.events.filter(({ kind }) => kind === 'refused');
        await eventually('it is reported', () => refused().length > 0);
        expect(refused()).to.have.length(1);
        expect(refused()[0]).to.deep.include({ address: '127.0.0.1' });
        expect(refused()[0]).to.have.property('reason').that.contains(HANDSHAKE_ERRORS[reason]);
        const lines = (await selfMetrics.text([])).split('\n');
        expect(lines.filter((line) => line.startsWith(TOTAL))).to.deep.equal(
          Object.keys(HANDSHAKE_ERRORS).map(
            (each) => `${TOTAL}{reason="${each}"} ${Number(each === reason)}`,
          ),
        );
      });

    it('of a client without TLS, and tells the client that the server requires HTTPS', async () => {
      const http = await serve(SERVER);
      expect(await sent(http, 'GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n')).to.equal(
        'HTTP/1.0 400 Bad Request\r\n\r\nClient sent an HTTP request to an HTTPS server.\n',
      );
      expect(http.events.at(-1)).to.deep.equal({
        ...{ kind: 'refused', address: '127.0.0.1' },
        reason: 'it sent a request without TLS (http request)',
      });
    });

    it('but not of a client that sends nothing', async () => {
      const http = await serve(SERVER, { headerMs: 50 });
      const sockets = [http.send('').socket, http.send('').socket];
      sockets[1]?.end();
      await Promise.all(sockets.map(closed));
      expect(http.events.filter(({ kind }) => kind === 'refused')).to.deep.equal([]);
    });

    it('with a reason that docs/troubleshooting.md explains', () => {
      const page = readFileSync(join(PROJECT, 'docs/troubleshooting.md'), 'utf8');
      const listed = [...page.matchAll(/^\| `([a-z_]+)` \|/gm)].map(([, reason]) => reason);
      expect(listed).to.include.members(Object.keys(HANDSHAKE_ERRORS));
    });
  });
});

const TOTAL = 'shm_exporter_tls_handshake_errors_total';

/** Resolves when a connection closes, with or without an error. */
const closed = (socket: Socket): Promise<void> =>
  new Promise((resolve) => {
    socket.on('error', () => undefined);
    if (socket.destroyed) resolve();
    else
      socket.once('close', () => {
        resolve();
      });
  });
