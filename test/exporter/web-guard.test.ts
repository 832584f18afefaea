// A listener with a web configuration, in this process: which clients it admits.
import { expect } from 'chai';
import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import type { RequestOptions } from 'node:https';
import { NEVER } from 'rxjs';
import { webGuard } from '#app/exporter/web-guard.js';
import { WatchedWebConfig } from '#app/web-config/watched-web-config.js';
import { tlsPath } from '../support/component-certificates.js';
import { FakeTarget } from '../support/fake-target.js';
import { freshServing } from '../support/serving-http.js';
import { temporaryFolder } from '../support/temporary-folder.js';

describe('a listener with a web configuration', () => {
  const folder = temporaryFolder();
  const serving = freshServing();
  const serve = (yaml: string) => {
    const config = new WatchedWebConfig(folder.write('web.yml', yaml), Date.now, () => undefined);
    const guard = webGuard(
      config,
      () => NEVER,
      Date.now,
      () => undefined,
    );
    return serving([new FakeTarget()], { guard });
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
});
