// Tests which client certificates a `client_ca_file` admits, and that node_exporter admits the same ones.
import { expect } from 'chai';
import { request } from 'node:https';
import type { RequestOptions } from 'node:https';
import { NEVER } from 'rxjs';
import { webGuard } from '#app/exporter/web-guard.js';
import { SelfMetrics } from '#app/sinks/self-metrics.js';
import { WatchedWebConfig } from '#app/web-config/watched-web-config.js';
import { AUTHORITY, Authorities } from '../support/authorities.js';
import { tlsPath } from '../support/component-certificates.js';
import { FakeTarget } from '../support/fake-target.js';
import { needsPrograms } from '../support/needs.js';
import { testPrograms, waitFor } from '../support/processes.js';
import { freshServing } from '../support/serving-http.js';

const CLIENT = 'subjectAltName=DNS:prometheus.example';

/** The certificates that a client sends: the name of its own certificate, and the names of the others. */
type Chain = readonly [own: string, ...others: string[]];

interface Case {
  readonly title: string;
  /** The names of the certificates in client_ca_file. */
  readonly anchors: readonly string[];
  readonly admits: readonly Chain[];
  readonly refuses: readonly Chain[];
}

const CASES: readonly Case[] = [
  {
    title:
      'of an intermediate authority, whether or not they send their chain, but no other clients of its root',
    anchors: ['int'],
    admits: [['client'], ['client', 'int'], ['client', 'int', 'root']],
    refuses: [['root-client'], ['other-client', 'other'], ['other-client', 'other', 'root']],
  },
  {
    title: 'of an intermediate authority with RSA keys',
    anchors: ['rsa-int'],
    admits: [['rsa-client'], ['rsa-client', 'rsa-int']],
    refuses: [['root-client']],
  },
  {
    title: 'of a root, directly and through a chain that they send',
    anchors: ['root'],
    admits: [['root-client'], ['client', 'int'], ['other-client', 'other']],
    refuses: [['client'], ['lone-client']],
  },
  {
    title: 'of each authority in the file, even if the file has some authorities twice',
    anchors: ['lone', 'int', 'int', 'root', 'lone'],
    admits: [['client'], ['root-client'], ['lone-client'], ['other-client', 'other']],
    refuses: [['other-client']],
  },
  {
    title: 'of a valid intermediate authority whose root has expired',
    anchors: ['expired-root', 'survivor'],
    admits: [['survivor-client'], ['survivor-client', 'survivor', 'expired-root']],
    refuses: [['expired-root-client']],
  },
  {
    title: 'of a cross-signed authority, whichever chain they send',
    anchors: ['cross'],
    admits: [['cross-client'], ['cross-client', 'cross'], ['cross-client', 'crossed', 'lone']],
    refuses: [['lone-client', 'lone']],
  },
  {
    title:
      'of an authority that was renewed with the same key, while the file has both certificates',
    anchors: ['former-cross', 'cross'],
    admits: [['cross-client']],
    refuses: [],
  },
  {
    title: 'whose own certificate is in the file, but no other clients of their authority',
    anchors: ['client'],
    admits: [['client'], ['client', 'int']],
    refuses: [['other-client', 'other'], ['root-client']],
  },
  {
    title: 'whose self-signed certificate is in the file, but no clients that it signed',
    anchors: ['own-client'],
    admits: [['own-client']],
    refuses: [['signed-by-client']],
  },
  {
    title: 'only while the authority is valid',
    anchors: ['expired-root'],
    admits: [],
    refuses: [['expired-root-client'], ['survivor-client', 'survivor']],
  },
  {
    title: 'only while their own certificate is valid',
    anchors: ['int', 'expired-client'],
    admits: [['client']],
    refuses: [['expired-client']],
  },
  {
    title: 'only with names that the authority may sign',
    anchors: ['constrained'],
    admits: [['constrained-client']],
    refuses: [['constrained-other']],
  },
  {
    title: 'only if a CA certificate signed their certificate',
    anchors: ['own-client', 'no-signer', 'no-authority'],
    admits: [['own-client']],
    refuses: [['no-signer-client'], ['no-authority-client'], ['signed-by-client']],
  },
  {
    title: 'only if their certificate is for clients',
    anchors: ['int', 'for-servers', 'server'],
    admits: [['both-purposes'], ['client']],
    refuses: [['server'], ['for-servers-client']],
  },
];

describe('a client_ca_file', function () {
  this.slow(3000);
  const programs = testPrograms();
  const authorities = new Authorities(programs);
  const serving = freshServing();

  before(function () {
    needsPrograms(this, 'openssl');
    const authority = (name: string, by?: string, ...more: readonly string[]) => {
      authorities.issue(name, { ...(by && { by }), extensions: [AUTHORITY, ...more] });
    };
    const client = (name: string, by: string, ...more: readonly string[]) => {
      authorities.issue(name, { by, extensions: [CLIENT, ...more] });
    };
    authority('root');
    authority('int', 'root');
    authority('other', 'root');
    authority('lone');
    client('client', 'int');
    client('root-client', 'root');
    authorities.issue('v6-client', { by: 'lone', extensions: ['subjectAltName=IP:2001:db8::7'] });
    client('other-client', 'other');
    client('lone-client', 'lone');
    client('both-purposes', 'int', 'extendedKeyUsage=serverAuth,clientAuth');
    client('server', 'int', 'extendedKeyUsage=serverAuth');
    authorities.issue('expired-client', { by: 'int', extensions: [CLIENT], hasExpired: true });
    authorities.issue('rsa-int', { by: 'root', extensions: [AUTHORITY], key: 'rsa' });
    authorities.issue('rsa-client', { by: 'rsa-int', extensions: [CLIENT], key: 'rsa' });
    authorities.issue('expired-root', { extensions: [AUTHORITY], hasExpired: true });
    authority('survivor', 'expired-root');
    client('survivor-client', 'survivor');
    client('expired-root-client', 'expired-root');
    authority('cross', 'root');
    authorities.issue('crossed', { by: 'lone', extensions: [AUTHORITY], like: 'cross' });
    authorities.issue('former-cross', {
      ...{ by: 'root', extensions: [AUTHORITY], like: 'cross', hasExpired: true },
    });
    client('cross-client', 'cross', 'authorityKeyIdentifier=keyid');
    authorities.issue('own-client', { extensions: [CLIENT, 'basicConstraints=CA:FALSE'] });
    client('signed-by-client', 'own-client');
    authority('constrained', 'root', 'nameConstraints=permitted;DNS:prometheus.example');
    client('constrained-client', 'constrained');
    authorities.issue('constrained-other', {
      ...{ by: 'constrained', extensions: ['subjectAltName=DNS:grafana.example'] },
    });
    authority('no-signer', 'root', 'keyUsage=digitalSignature');
    client('no-signer-client', 'no-signer');
    authorities.issue('no-authority', { by: 'root', extensions: ['basicConstraints=CA:FALSE'] });
    client('no-authority-client', 'no-authority');
    authority('for-servers', 'root', 'extendedKeyUsage=serverAuth');
    client('for-servers-client', 'for-servers');
  });

  const yaml = (anchors: readonly string[]) => {
    programs.write('anchors.pem', `Our authorities:\n${authorities.pem(...anchors)}`);
    return (
      `tls_server_config:\n  cert_file: ${tlsPath('component.cert.pem')}\n  key_file: ${tlsPath('component.key.pem')}\n` +
      '  client_auth_type: RequireAndVerifyClientCert\n  client_ca_file: anchors.pem\n'
    );
  };

  /** Starts a listener in this process. */
  const serve = async (anchors: readonly string[], more = '', selfMetrics = new SelfMetrics()) => {
    const file = programs.write('web.yml', yaml(anchors) + more);
    const config = new WatchedWebConfig(file, Date.now, () => undefined);
    const none = () => undefined;
    const guard = webGuard(config, () => NEVER, Date.now, none);
    return (await serving([new FakeTarget()], { guard, selfMetrics })).origin;
  };

  const optionsOf = ([own, ...others]: Chain): RequestOptions => ({
    cert: authorities.pem(own, ...others),
    key: authorities.key(own),
  });

  const admitted = (origin: string, chains: readonly Chain[], more: RequestOptions = {}) =>
    Promise.all(chains.map((chain) => isLetIn(origin, { ...optionsOf(chain), ...more })));

  for (const { title, anchors, admits, refuses } of CASES)
    it(`admits clients ${title}`, async () => {
      const origin = await serve(anchors);
      for (const maxVersion of ['TLSv1.2', 'TLSv1.3'] as const) {
        const results = await admitted(origin, [...admits, ...refuses], { maxVersion });
        expect(results, maxVersion).to.deep.equal([
          ...admits.map(() => true),
          ...refuses.map(() => false),
        ]);
      }
    });

  it('works together with client_allowed_sans, even for an IPv6 address in its short form', async () => {
    const served = async (san: string) => {
      const allowed = `  client_allowed_sans: ["${san}"]\n`;
      return isLetIn(await serve(['lone'], allowed), optionsOf(['v6-client']));
    };
    expect([await served('2001:db8::7'), await served('2001:db8::8')]).to.deep.equal([true, false]);
  });

  for (const [reason, chain] of [
    ['expired_certificate', ['expired-client']],
    ['invalid_certificate', ['server']],
    ['untrusted_certificate', ['root-client']],
    ['untrusted_certificate', ['own-client']],
  ] as const)
    it(`counts the refusal of ${chain[0]} as ${reason}`, async () => {
      const selfMetrics = new SelfMetrics();
      const origin = await serve(['int'], '', selfMetrics);
      expect(await isLetIn(origin, optionsOf(chain))).to.equal(false);
      await waitFor('the count', async () =>
        (await selfMetrics.text([])).includes(`_errors_total{reason="${reason}"} 1\n`)
          ? true
          : undefined,
      );
    });

  it('admits the clients that node_exporter admits with the same file', async function () {
    needsPrograms(this, 'prometheus-node-exporter');
    programs.write('node.yml', yaml(['root']));
    const node = programs.command([
      ...['prometheus-node-exporter', '--collector.disable-defaults'],
      ...['--web.listen-address=127.0.0.1:0', `--web.config.file=${programs.path('node.yml')}`],
    ]);
    const [, port = ''] = await node.line(/127\.0\.0\.1:(\d+)/);
    for (const { title, anchors, admits, refuses } of CASES) {
      // node_exporter reads its files again at each connection.
      programs.write('node.yml', yaml(anchors));
      const results = await admitted(`https://127.0.0.1:${port}`, [...admits, ...refuses]);
      expect(results, title).to.deep.equal([
        ...admits.map(() => true),
        ...refuses.map(() => false),
      ]);
    }
    await node.stop();
  });
});

/** Whether a client gets a page. */
const isLetIn = (origin: string, options: RequestOptions): Promise<boolean> =>
  new Promise((resolve) => {
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
