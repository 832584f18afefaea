// Tests a listener with TLS, client certificates and passwords, with real clients.
import { execFile } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import { copyFileSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import type { RequestOptions } from 'node:https';
import { promisify } from 'node:util';
import { expect } from 'chai';
import { hashSync } from 'bcryptjs';
import { tlsPath } from '../support/component-certificates.js';
import { delay, waitFor, testPrograms } from '../support/processes.js';
import type { Running } from '../support/processes.js';
import { scrape } from './page.js';
import { needsPrograms } from '../support/needs.js';

interface Answer {
  readonly status: number;
  readonly headers: NodeJS.Dict<string | string[]>;
  readonly text: string;
  /** The subject of the certificate that the server sent. */
  readonly subject: string;
}

/** Sends a request over HTTPS. Rejects if the connection fails. */
function ask(url: string, options: RequestOptions = {}): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request(
      url,
      { rejectUnauthorized: false, agent: false, ...options },
      (response) => {
        let text = '';
        const { socket, headers, statusCode: status = 0 } = response;
        const subject =
          'getPeerCertificate' in socket
            ? (socket.getPeerCertificate as () => { subject: { CN: string } })().subject.CN
            : '';
        response.on('data', (chunk: Buffer) => (text += chunk.toString()));
        response.on('end', () => resolve({ status, headers, text, subject }));
        response.on('error', reject);
      },
    );
    sent.on('error', reject);
    sent.end();
  });
}

interface Started {
  readonly exporter: Running;
  readonly url: string;
}

describe('an exporter with web_config_file', function () {
  this.slow(5000);
  const programs = testPrograms();
  before(() => programs.simulate('--app', 'ads', '--server-key', '82', '--objects', '3'));

  const SERVER = `tls_server_config:\n  cert_file: server.pem\n  key_file: server.key\n`;
  const USERS = `basic_auth_users:\n  alice: ${hashSync('s:cret', 4)}\n`;
  const alice = { Authorization: `Basic ${Buffer.from('alice:s:cret').toString('base64')}` };
  const serverIs = (name: 'component' | 'other') => {
    copyFileSync(tlsPath(`${name}.cert.pem`), programs.path('server.pem'));
    copyFileSync(tlsPath(`${name}.key.pem`), programs.path('server.key'));
  };
  const start = async (yaml: string) => {
    serverIs('component');
    rmSync(programs.path('web.yml'), { force: true });
    programs.write('web.yml', yaml);
    const settings = { app: 'ads', server_keys: ['82'], web_config_file: 'web.yml' };
    const exporter = programs.start('exporter', ['--config', programs.config(settings)]);
    const [, url = ''] = await exporter.line(/metrics at (https?:\S+)/);
    await exporter.line(/ ready: /);
    return { exporter, url };
  };
  /** Replaces the web configuration of a running exporter, and waits until the exporter uses the new one. */
  const change = async ({ exporter, url }: Started, yaml: string) => {
    const reads = () => exporter.stderr.match(/web configuration \S+ read again/g)?.length ?? 0;
    const before = reads();
    serverIs('component');
    rmSync(programs.path('web.yml'), { force: true });
    programs.write('web.yml', yaml);
    // The exporter checks its files at most once per second, so earlier requests would be in vain.
    await delay(1000);
    await waitFor('the new web configuration', async () => {
      await (url.startsWith('https') ? ask(url).catch(() => undefined) : scrape(url));
      return reads() > before || undefined;
    });
  };
  describe('that has a certificate', () => {
    let secure: Started;
    before(async () => (secure = await start(SERVER)));
    after(() => secure.exporter.stop());

    it('serves every page over HTTPS, and only with a password', async () => {
      const { url } = secure;
      await change(
        secure,
        SERVER + 'http_server_config:\n  headers:\n    X-Frame-Options: deny\n' + USERS,
      );
      expect(url).to.match(/^https:/);
      for (const path of ['/metrics', '/', '/-/healthy', '/-/metrics', '/-/targets', '/nowhere']) {
        const at = new URL(path, url).href;
        const { status, headers } = await ask(at);
        expect(
          [status, headers['www-authenticate'], headers['x-frame-options']],
          path,
        ).to.deep.equal([401, 'Basic', 'deny']);
        const known = await ask(at, { headers: alice });
        expect([known.status, known.headers['x-frame-options']], path).to.deep.equal([
          path === '/nowhere' ? 404 : 200,
          'deny',
        ]);
      }
      const { text } = await ask(url, { headers: alice });
      expect(text).to.contain('\nads_process_pid ');
      const discovered = await ask(new URL('/-/targets', url).href, { headers: alice });
      expect(JSON.parse(discovered.text)).to.have.nested.property('[0].labels.__scheme__', 'https');
    });

    it('works with the options of curl for passwords and certificates', async function () {
      needsPrograms(this, 'curl');
      const { url } = secure;
      await change(secure, SERVER + USERS);
      const known = ['-u', 'alice:s:cret', '--cacert', tlsPath('component.cert.pem')];
      const { stdout: body } = await promisify(execFile)('curl', [
        ...['-sSf', '--compressed', ...known],
        url,
      ]);
      expect(body).to.contain('\nads_process_pid ');
    });

    it('applies renewed certificates and passwords without a restart, and sets a metric to 0 while the new files are invalid', async () => {
      const { exporter, url } = secure;
      await change(secure, SERVER + USERS);
      expect((await ask(url, { headers: alice })).subject).to.equal('localhost');
      serverIs('other');
      await waitFor('the new certificate', async () =>
        (await ask(url, { headers: alice })).subject === 'other.example' ? true : undefined,
      );
      const metric = async (name: string) => {
        const { text } = await ask(new URL('/-/metrics', url).href, { headers: alice });
        return Number(new RegExp(`^shm_exporter_${name} (.*)$`, 'm').exec(text)?.[1]);
      };
      const { validTo } = new X509Certificate(readFileSync(programs.path('server.pem')));
      expect(await metric('certificate_expiry_timestamp_seconds')).to.equal(
        Date.parse(validTo) / 1000,
      );
      expect(await metric('web_config_last_reload_successful')).to.equal(1);
      writeFileSync(programs.path('server.key'), 'broken');
      await waitFor('the metric', async () =>
        (await metric('web_config_last_reload_successful')) === 0 ? true : undefined,
      );
      await waitFor('the warning', async () => {
        const { status, subject } = await ask(url, { headers: alice });
        expect([status, subject]).to.deep.equal([200, 'other.example']);
        return (
          /warning web configuration not reloaded.*server\.key/.test(exporter.stderr) || undefined
        );
      });
      serverIs('other');
      programs.write('web.yml', `${SERVER}basic_auth_users:\n  bob: ${hashSync('b', 4)}\n`);
      const bob = { Authorization: `Basic ${Buffer.from('bob:b').toString('base64')}` };
      await waitFor('bob is let in', async () =>
        (await ask(url, { headers: bob })).status === 200 ? true : undefined,
      );
      expect((await ask(url, { headers: alice })).status).to.equal(401);
    });
  });

  describe('without TLS', () => {
    let plain: Started;
    before(async () => (plain = await start('')));
    after(() => plain.exporter.stop());

    it('answers 429 to requests above rate_limit, and 200 to all requests after rate_limit is removed', async () => {
      const { url } = plain;
      await change(plain, 'rate_limit:\n  interval: 1h\n  burst: 3\n');
      const statuses = async (count: number) => {
        const answers: number[] = [];
        for (let each = 0; each < count; each++) answers.push((await scrape(url)).status);
        return answers;
      };
      // The requests of `change` have used a part of the burst.
      expect((await statuses(5)).slice(3)).to.deep.equal([429, 429]);
      const { headers, body } = await scrape(url);
      expect(headers['retry-after']).to.equal('1');
      expect(body).to.match(/^too many requests: rate_limit/);
      programs.write('web.yml', '');
      await waitFor('no limit', async () => ((await statuses(1))[0] === 200 ? true : undefined));
      expect(await statuses(5)).to.deep.equal([200, 200, 200, 200, 200]);
    });

    it('answers a health probe while many wrong passwords are being compared', async () => {
      const { url } = plain;
      await change(plain, `basic_auth_users:\n  alice: ${hashSync('s:cret', 9)}\n`);
      const own = new URL('/-/healthy', url).href;
      const known = await fetch(own, { headers: alice });
      expect(known.status).to.equal(200);
      const guess = (index: number) =>
        fetch(own, {
          headers: { Authorization: `Basic ${Buffer.from(`alice:${index}`).toString('base64')}` },
        }).then(({ status }) => status);
      const guesses = Promise.all(Array.from({ length: 30 }, (_, index) => guess(index)));
      expect((await fetch(own, { headers: alice })).status).to.equal(200);
      expect(new Set(await guesses)).to.deep.equal(new Set([401, 503]));
    });

    it('keeps its web configuration while a file is missing, and reads the new one once all files exist', async () => {
      const { exporter, url } = plain;
      await change(plain, USERS);
      const warnings = () =>
        exporter.stderr.match(/warning web configuration not reloaded/g)?.length ?? 0;
      const before = warnings();
      const isLetIn = async (headers: Record<string, string>) =>
        (await fetch(url, { headers })).status === 200 ? true : undefined;
      expect(await isLetIn(alice)).to.equal(true);
      rmSync(programs.path('web.yml'));
      symlinkSync('web.yml', programs.path('web.yml'));
      await waitFor('the warning', async () => {
        expect(await isLetIn(alice)).to.equal(true);
        return warnings() > before || undefined;
      });
      rmSync(programs.path('web.yml'));
      programs.write('web.yml', 'basic_auth_users:\n  bob: nonsense\n');
      await waitFor('another warning', async () => {
        expect(await isLetIn(alice)).to.equal(true);
        return warnings() > before + 1 || undefined;
      });
      programs.write('web.yml', `basic_auth_users:\n  bob: ${hashSync('b', 4)}\n`);
      const bob = { Authorization: `Basic ${Buffer.from('bob:b').toString('base64')}` };
      await waitFor('bob is let in', () => isLetIn(bob));
    });
  });

  it('admits only clients whose certificate has an allowed name, even after the allowed names change', async () => {
    const verified = `${SERVER}  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: ${tlsPath('client-ca.cert.pem')}\n`;
    const named = (names: string) => `${verified}  client_allowed_sans: ${names}\n`;
    const started = await start(named('[other.example, prometheus.example.com]'));
    const isLetIn = (name: string) =>
      ask(started.url, { cert: copyOf(`${name}.cert.pem`), key: copyOf(`${name}.key.pem`) }).then(
        () => true,
        () => false,
      );
    expect([await isLetIn('client'), await isLetIn('other')]).to.deep.equal([true, false]);
    await started.exporter.line(
      /warning refuses connections from 127\.0\.0\.1: client_ca_file has no authority that signed its/,
    );
    await change(started, named('[example.com]'));
    expect(await isLetIn('client')).to.equal(false);
    await started.exporter.line(
      /from 127\.0\.0\.1: its certificate has none of the names in client_allowed/,
    );
    await change(started, named('[192.0.2.7]'));
    expect(await isLetIn('client')).to.equal(true);
    await started.exporter.stop();
  });
});

const copyOf = (name: string): string => readFileSync(tlsPath(name), 'utf8');
